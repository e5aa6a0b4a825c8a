/** A host of ClientServer channels, composed by hand, with the calls of an application. */
import { ClientServerChannel } from '@zlink/clientserver';
import { RequestBuilder, SendBuilder } from '@zlink/kernel/call';
import { resolveOutbound, type Sendable } from '@zlink/kernel/message';
import { TopicHost, type TopicHostOptions, type TopicHostPlace } from '@zlink/testing/internal';

export type TestHostOptions = TopicHostOptions;

export class TestHost extends TopicHost<ClientServerChannel> {
  constructor(place: TopicHostPlace, options: TestHostOptions) {
    super(
      place,
      options,
      (channelName, requireConfiguring) => new ClientServerChannel(channelName, requireConfiguring),
    );
  }

  channel(channelName: string): ClientServerChannel {
    return this.topic(channelName);
  }

  send(channelName: string, message: Sendable): SendBuilder {
    return new SendBuilder(this.channel(channelName).path, resolveOutbound(message));
  }

  request<R>(channelName: string, request: Sendable<R>): RequestBuilder<R> {
    return new RequestBuilder<R>(this.channel(channelName).path, resolveOutbound(request));
  }
}

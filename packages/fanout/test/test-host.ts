/** A host of fanout channels, composed by hand, with what applications describe, hold and publish with. */
import { builderOf, createFanoutClient, FanoutChannel, type FanoutChannelBuilder, runtimeOf } from '@zlink/fanout';
import type { FanoutClient, FanoutRuntime } from '@zlink/fanout';
import { ZLinkError } from '@zlink/kernel/errors';
import type { TopologySections } from '@zlink/kernel/internal/host';
import type { FanoutSnapshot } from '@zlink/kernel/observe';
import { seededRandom } from '@zlink/testing';
import { TopicHost, type TopicHostOptions, type TopicHostPlace } from '@zlink/testing/internal';

export type TestHostOptions = TopicHostOptions;

export class TestHost extends TopicHost<FanoutChannel> {
  readonly client: FanoutClient;

  constructor(place: TopicHostPlace, options: TestHostOptions) {
    super(place, options, (name, requireConfiguring) => new FanoutChannel(name, requireConfiguring, seededRandom(1)));
    this.client = createFanoutClient({
      toChannel: (channelName) =>
        this.findTopic(channelName)?.path ?? new ZLinkError('NotFound', `channel "${channelName}" is not registered`),
    });
  }

  channel(channelName: string): FanoutChannelBuilder {
    return builderOf(this.topic(channelName));
  }

  runtime(channelName: string): FanoutRuntime {
    return runtimeOf(this.topic(channelName));
  }

  /** What its channel shows; undefined without a subscriber. */
  showOf(channelName: string): FanoutSnapshot | undefined {
    const sections: TopologySections = {
      routeMeshes: [],
      clientServerChannels: [],
      fanoutChannels: [],
      backlog: { running: 0, queued: 0 },
    };
    this.topic(channelName).showIn(sections);
    return sections.fanoutChannels[0];
  }
}

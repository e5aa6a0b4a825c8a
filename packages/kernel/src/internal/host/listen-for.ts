/** Listening on behalf of someone with a name: the error of a listener says whose it was. */
import { isZLinkError, ZLinkError } from '../../errors/index.ts';
import type { Listener, ListenOptions, Transport } from '../transport/index.ts';

/** @throws ZLinkError of the transport's kind, its text led by `where` and without its cause */
export function listenFor(where: string, transport: Transport, options: ListenOptions): Promise<Listener> {
  return boundFor(where, transport.listen(options));
}

/** @throws as `listenFor` */
export function boundFor<T>(where: string, binding: Promise<T>): Promise<T> {
  return binding.catch((error: unknown) => Promise.reject(named(error, where)));
}

function named(error: unknown, where: string): Error {
  if (!isZLinkError(error)) return error as Error; // whatever else a transport throws stays what it is
  const text = error.message.replace(`[${error.kind}] `, '');
  return new ZLinkError(error.kind, `${where}: ${text}`);
}

/**
 * Where the hosts of a test live: machines with addresses of their own, on one network.
 *
 * Owns the network and its names. Leaves to the test who runs where.
 *
 * 1. Where the kernel lets us, each site is a network namespace with an IPv4 and an IPv6 address and a loopback that is no
 *    way to the others; all hang on one bridge. Elsewhere they share this machine's loopback, which has many addresses.
 *    `makeSites` alone decides.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hasIpv6Loopback } from '../ports.ts';

export interface Site {
  /** Puts this before a command line to run it there. */
  readonly within: readonly string[];
  readonly ipv4: string;
  /** Another IPv4 address if this machine has no IPv6 at all. */
  readonly ipv6: string;
  /** Known to every site, with both addresses. */
  readonly hostName: string;
  /** What a host there finds as its own addresses; undefined: what it finds on this machine. */
  readonly addresses: readonly string[] | undefined;
}

export interface Sites {
  readonly all: readonly Site[];
  remove(): void;
}

/** 1 */
export function makeSites(count: number): Sites {
  try {
    return new BridgedSites(count);
  } catch {
    return { all: Array.from({ length: count }, (_, at) => loopbackSite(at)), remove: () => undefined };
  }
}

function loopbackSite(at: number): Site {
  const ipv4 = process.platform === 'linux' ? `127.0.0.${2 + at}` : '127.0.0.1'; // others have one
  const ipv6 = hasIpv6Loopback() ? '::1' : ipv4;
  return { within: [], ipv4, ipv6, hostName: 'localhost', addresses: undefined };
}

class BridgedSites implements Sites {
  readonly all: readonly Site[];
  readonly #prefix = `zlink-sites-${process.pid}`;
  readonly #spaces: string[] = [];

  constructor(count: number) {
    try {
      const hub = this.#space('hub');
      ip('-n', hub, 'link', 'add', 'bridge', 'type', 'bridge');
      ip('-n', hub, 'link', 'set', 'bridge', 'up');
      this.all = Array.from({ length: count }, (_, at) => this.#site(hub, at));
      this.#name();
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  remove(): void {
    for (const space of this.#spaces.splice(0)) {
      ip('netns', 'del', space);
      rmSync(namesOf(space), { recursive: true, force: true });
    }
  }

  #space(name: string): string {
    const space = `${this.#prefix}-${name}`;
    ip('netns', 'add', space);
    this.#spaces.push(space);
    ip('-n', space, 'link', 'set', 'lo', 'up');
    return space;
  }

  #site(hub: string, at: number): Site {
    const space = this.#space(String(at));
    const [ipv4, ipv6] = [`198.18.78.${at + 1}`, `2001:db8:78::${at + 1}`]; // set apart for tests (RFC 2544, RFC 3849)
    ip('-n', hub, 'link', 'add', `site${at}`, 'type', 'veth', 'peer', 'name', 'cable', 'netns', space);
    ip('-n', hub, 'link', 'set', `site${at}`, 'master', 'bridge', 'up');
    ip('-n', space, 'addr', 'add', `${ipv4}/24`, 'dev', 'cable');
    ip('-n', space, 'addr', 'add', `${ipv6}/64`, 'dev', 'cable', 'nodad'); // else it is no address for the first seconds
    ip('-n', space, 'link', 'set', 'cable', 'up');
    const within = ['ip', 'netns', 'exec', space];
    return { within, ipv4, ipv6, hostName: `node-${at}.test`, addresses: [ipv4, ipv6] };
  }

  /** What `ip netns exec` lays over /etc there. */
  #name(): void {
    const lines = this.all.map(({ ipv4, ipv6, hostName }) => `${ipv6} ${hostName}\n${ipv4} ${hostName}\n`);
    for (const space of this.#spaces) {
      mkdirSync(namesOf(space), { recursive: true });
      writeFileSync(`${namesOf(space)}/hosts`, ['127.0.0.1 localhost\n', ...lines].join(''));
    }
  }
}

function namesOf(space: string): string {
  return `/etc/netns/${space}`;
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/**
 * Network namespaces of the kernel: networks of their own for child processes, whose cables a test can pull.
 *
 * Owns their creation and removal by the `ip` command. Leaves to the test who runs in them. Where the machine does not
 * allow them, or has no such command, `create` says why.
 */
import { execFileSync } from 'node:child_process';

export type Created =
  { readonly ok: true; readonly spaces: NetworkSpaces } | { readonly ok: false; readonly reason: string };

export class NetworkSpaces {
  /** Addresses of the two ends of a cable: from a range that is set apart for tests (RFC 2544). */
  readonly nearAddress = '198.18.77.1';
  readonly farAddress = '198.18.77.2';
  readonly #prefix = `zlink-test-${process.pid}`;
  readonly #names: string[] = [];

  static create(names: readonly string[]): Created {
    const spaces = new NetworkSpaces();
    try {
      for (const name of names) {
        ip('netns', 'add', spaces.#full(name));
        spaces.#names.push(name);
        ip('-n', spaces.#full(name), 'link', 'set', 'lo', 'up');
      }
      return { ok: true, spaces };
    } catch (error) {
      spaces.removeAll();
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Puts this before a command line to run it in the namespace. */
  within(name: string): readonly string[] {
    return ['ip', 'netns', 'exec', this.#full(name)];
  }

  /** Lays a cable; the near end is called as the far namespace. */
  connect(near: string, far: string): void {
    const nearSpace = this.#full(near);
    const farSpace = this.#full(far);
    ip('-n', nearSpace, 'link', 'add', far, 'type', 'veth', 'peer', 'name', 'cable', 'netns', farSpace);
    ip('-n', nearSpace, 'addr', 'add', `${this.nearAddress}/30`, 'dev', far);
    ip('-n', farSpace, 'addr', 'add', `${this.farAddress}/30`, 'dev', 'cable');
    ip('-n', nearSpace, 'link', 'set', far, 'up');
    ip('-n', farSpace, 'link', 'set', 'cable', 'up');
  }

  /** Pulls the cable out of its far end: packets vanish, nobody is told. */
  pull(far: string): void {
    ip('-n', this.#full(far), 'link', 'set', 'cable', 'down');
  }

  /** Frees the near end's address for another cable. */
  detach(near: string, far: string): void {
    ip('-n', this.#full(near), 'addr', 'flush', 'dev', far);
  }

  remove(name: string): void {
    ip('netns', 'del', this.#full(name));
    this.#names.splice(this.#names.indexOf(name), 1);
  }

  removeAll(): void {
    for (const name of [...this.#names]) this.remove(name);
  }

  #full(name: string): string {
    return `${this.#prefix}-${name}`;
  }
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/**
 * Entry of a peer process: carries questions of the coordinator to the stage and answers back.
 *
 * 1. A peer lives as long as its coordinator: when the channel closes, it ends.
 * 2. A failure outside of a question ends the peer loudly; the coordinator sees it go.
 */
import type { Answer, CommandName, Question } from './peer-commands.ts';
import { PeerStage } from './peer-stage.ts';

const stage = new PeerStage();

process.on('disconnect', () => process.exit()); // 1
process.on('message', (message) => void answer(message as Question)); // the coordinator sends nothing else

async function answer({ id, command, args }: Question): Promise<void> {
  try {
    tell({ id, ok: true, result: await perform(command, args) });
  } catch (error) {
    tell({ id, ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

/** Name and arguments come from `Peer.ask`, which ties them together. */
function perform(command: CommandName, args: unknown): Promise<unknown> {
  return (stage[command] as (args: unknown) => Promise<unknown>).call(stage, args);
}

function tell(message: Answer): void {
  if (process.connected) process.send!(message);
}

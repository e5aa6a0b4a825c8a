/**
 * The peer's end of the channel to its coordinator: carries questions to a stage and its answers back.
 *
 * 1. A peer lives as long as its coordinator: when the channel closes, it ends.
 * 2. A failure outside of a question ends the peer loudly; the coordinator sees it go.
 */
import type { Answer, CommandTable, Performance, Question } from './question.ts';

export function answerWith<Table extends CommandTable<Table>>(stage: Performance<Table>): void {
  process.on('disconnect', () => process.exit()); // 1
  process.on('message', (message) => void answer(stage, message as Question)); // the coordinator sends nothing else
}

async function answer<Table extends CommandTable<Table>>(stage: Performance<Table>, question: Question): Promise<void> {
  const { id, command, args } = question;
  try {
    // Name and arguments come from `Peer.ask`, which ties them together.
    tell({ id, ok: true, result: await stage[command as keyof Table].call(stage, args) });
  } catch (error) {
    tell({ id, ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

function tell(message: Answer): void {
  if (process.connected) process.send!(message);
}

/** Entry of a process that holds nodes of a full mesh. */
import { answerWith } from '../answering.ts';
import type { FullMeshCommands } from './commands.ts';
import { FullMeshStage } from './stage.ts';

answerWith<FullMeshCommands>(new FullMeshStage());

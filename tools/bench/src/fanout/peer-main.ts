/** Entry of a peer process of a fanout contest. */
import { answerWith } from '../answering.ts';
import type { FanoutCommands } from './commands.ts';
import { FanoutStage } from './stage.ts';

answerWith<FanoutCommands>(new FanoutStage());

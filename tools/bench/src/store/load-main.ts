/** Entry of a process that loads a store. */
import { answerWith } from '../answering.ts';
import type { LoadCommands } from './load-commands.ts';
import { LoadStage } from './load-stage.ts';

answerWith<LoadCommands>(new LoadStage());

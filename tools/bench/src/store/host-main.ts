/** Entry of a process with hosts that find each other through Redis. */
import { answerWith } from '../answering.ts';
import type { HostCommands } from './host-commands.ts';
import { HostStage } from './host-stage.ts';

answerWith<HostCommands>(new HostStage());

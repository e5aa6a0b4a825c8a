/** Entry of a peer process of a contest. */
import { answerWith } from './answering.ts';
import type { Commands } from './peer-commands.ts';
import { PeerStage } from './peer-stage.ts';

answerWith<Commands>(new PeerStage());

import { locationStoreSuite, relocationStoreSuite } from '../../src/index.ts';
import { locationHarness, relocationHarness } from './memory-harnesses.ts';

locationStoreSuite('memory location store', locationHarness());
relocationStoreSuite('memory relocation store', relocationHarness());

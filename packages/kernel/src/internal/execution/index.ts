export { JobPermits, type JobPermitLimits, type PermitSource, type ReceiveFlow } from './job-permits.ts';
export {
  effectiveProcessors,
  type JobQueueOptions,
  type ProcessorFacts,
  type Profile,
  resolveJobQueue,
} from './job-queue.ts';
export { Mailbox, type MailboxLimits } from './mailbox.ts';

export { JobPermits, type JobPermitLimits, type PermitSource, type ReceiveFlow } from './job-permits.ts';
export { Mailbox, type MailboxLimits } from './mailbox.ts';

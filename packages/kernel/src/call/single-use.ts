import { ZLinkError } from '../errors/index.ts';

/** A call object was used after its submission (CALL-001). */
export function submittedTwice(packetName: string): ZLinkError {
  return new ZLinkError('InvalidOperation', `call of "${packetName}" was already submitted`);
}

/** Bytes as padded base64 text (CODEC-005), natively in Node.js and portably in a browser. */

const NodeBuffer = typeof Buffer === 'function' ? Buffer : undefined;

/** A multiple of three, so that only the last part is padded; small enough to be spread into arguments. */
const partBytes = 12_288;

export function encodeBase64(bytes: Uint8Array): string {
  if (NodeBuffer !== undefined) {
    return NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  }
  let text = '';
  for (let start = 0; start < bytes.byteLength; start += partBytes) {
    text += btoa(String.fromCharCode(...bytes.subarray(start, start + partBytes)));
  }
  return text;
}

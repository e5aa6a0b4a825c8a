// Owns: the part of a client's end that the frameworks here do not need.

/** A client's end that carries requests alone. */
export function requestsOnly(request, close) {
  return {
    send() {
      throw new Error('this comparison measures requests');
    },
    request,
    close,
  };
}

/** A server in this process as its channel's client sees it: dialled like any other, but without a source (CS-002). */
export interface LocalServer {
  readonly address: string;
  readonly rid: string;
}

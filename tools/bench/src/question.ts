/** What travels between a coordinator and its peers: commands by name, each answered once. */

/** Commands of one kind of peer by name; every kind can be closed. */
export type CommandTable<Table> = {
  readonly [Name in keyof Table]: { readonly args: unknown; readonly result: unknown };
} & { readonly close: { readonly args: undefined; readonly result: undefined } };

/** What a peer does for each command. */
export type Performance<Table extends CommandTable<Table>> = {
  readonly [Name in keyof Table]: (args: Table[Name]['args']) => Promise<Table[Name]['result']>;
};

export interface Question {
  readonly id: number;
  readonly command: string;
  readonly args: unknown;
}

export type Answer =
  | { readonly id: number; readonly ok: true; readonly result: unknown }
  | { readonly id: number; readonly ok: false; readonly error: string };

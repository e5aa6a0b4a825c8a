/** Keeps what is logged. */
export class LogLines {
  readonly records: object[] = [];

  readonly warn = (_key: string, record: object): void => void this.records.push(record);
}

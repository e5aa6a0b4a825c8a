/** The attributes of a span: the fields of records under the prefix `zlink.` (TRACE-025). */
import type { Attributes } from '@opentelemetry/api';
import type { MessageFields } from '@zlink/kernel/observe';

/** As many as records have fields. */
const names = new Map<string, string>();

export function spanAttributes(fields: MessageFields): Attributes {
  const attributes: Attributes = {};
  for (const [field, value] of Object.entries(fields) as [string, string | undefined][]) {
    // all are texts
    if (value !== undefined) attributes[attributeName(field)] = value;
  }
  return attributes;
}

function attributeName(field: string): string {
  let name = names.get(field);
  if (name === undefined) {
    name = `zlink.${field}`;
    names.set(field, name);
  }
  return name;
}

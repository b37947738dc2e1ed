import { reasonsOf } from './entry.ts'

/** What is wrong with a request itself: its fields, body, headers and path. */
export const requestReasons = reasonsOf({
  field_invalid: {
    kind: 'invalid_request',
    says: ({ path, problem }: { path: string; problem: string }) => `${path}: ${problem}`,
    client: 'change the field that the message and `param` name',
  },
  field_wrong_type: {
    kind: 'invalid_request',
    says: ({ path, expected, got }: { path: string; expected: string; got: string }) =>
      `${path}: expected ${expected}, got ${got}`,
    client: 'send a value of the type that the message names',
  },
  field_unknown_value: {
    kind: 'invalid_request',
    says: ({ path, expected, got }: { path: string; expected: string; got: string }) =>
      `${path}: expected ${expected}, got ${got}`,
    client: 'send one of the values that the message lists',
  },
})

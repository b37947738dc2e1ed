import { required } from './options.ts'

/** Names a key. */
export const keyArgument = required('KEY', 'TENANT/NAME, as `keys list` shows it, or its id')

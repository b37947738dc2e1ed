import { required } from './options.ts'

/** The argument that names a key. */
export const keyArgument = required('KEY', 'TENANT/NAME, as shown by `keys list`, or its id')

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTypes, { astToString } from 'openapi-typescript'
import { generated } from '../support/sources.ts'
import { documentWithoutGateway } from './document.ts'

/** `npm run generate`: the types of a client of our API, for the console and for tests. It needs no gateway and no Postgres. */

const path = join(import.meta.dirname, '../..', generated)
// A body may leave out what has a default.
const types = await openapiTypes(documentWithoutGateway(), { defaultNonNullable: false })
const text = `// Made by npm run generate.\n\n${astToString(types)}`
// An editor reads it again when it is written.
if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)

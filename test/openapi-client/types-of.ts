import openapiTypes, { astToString } from 'openapi-typescript'

// A body may leave out what has a default.
const options = { defaultNonNullable: false }

/** The types of a client of this OpenAPI document, as the source of a module. */
export async function typesOf(document: string): Promise<string> {
  return `// Made from /openapi.json by test/api/openapi-client.test.ts. Make it anew with its flag -u.\n\n${astToString(await openapiTypes(document, options))}`
}

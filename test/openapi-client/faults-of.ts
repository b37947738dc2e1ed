import { createConfig, lintFromString } from '@redocly/openapi-core'

/** What a linter of OpenAPI finds wrong in this document, a line each. */
export async function faultsOf(document: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended'],
    rules: {
      // `default` stands for each status of an error.
      'operation-4xx-response': 'off',
      // Where there is no PUBLIC_URL, the server is the one that the document came from.
      'no-empty-servers': 'off',
    },
  })
  const problems = await lintFromString({ source: document, config })
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
  )
}

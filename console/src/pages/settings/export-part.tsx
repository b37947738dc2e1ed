import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { errorOf } from '../../api/client.ts'
import { Code } from '../../parts/code.tsx'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Waiting } from '../../shell/waiting.tsx'

/**
 * The state of the gateway as a gateway.yaml, without secrets: what a second gateway, or version control,
 * would need.
 */
export function ExportPart() {
  const file = useQuery({ queryKey: ['export'], queryFn: ({ signal }) => readExport(signal) })
  return (
    <Section
      title="This gateway as a gateway.yaml"
      actions={
        <Button component="a" href="/admin/v1/export" download="gateway.yaml" variant="default">
          Download gateway.yaml
        </Button>
      }
    >
      <span className="tg-quiet">
        Secrets are left out: the file names the variables that must hold them.
      </span>
      {file.error === null ? null : <Problem error={file.error} onAgain={() => void file.refetch()} />}
      {file.data === undefined ? (
        file.error === null ? (
          <Waiting />
        ) : null
      ) : (
        <Code text={file.data} what="the file" />
      )}
    </Section>
  )
}

/** YAML, not JSON: read as text. */
async function readExport(signal: AbortSignal): Promise<string> {
  const response = await fetch('/admin/v1/export', { signal })
  if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined))
  return response.text()
}

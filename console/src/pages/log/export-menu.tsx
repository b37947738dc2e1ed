import { Button, Menu } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useState } from 'react'
import { errorOf } from '../../api/client.ts'
import { stringifySearch } from '../../console-search.ts'
import { done, fails } from '../../parts/toast.tsx'
import type { LogTerms } from './log-query.ts'

const formats = [
  { format: 'csv', title: 'CSV, for spreadsheets' },
  { format: 'ndjson', title: 'NDJSON, a line for each row' },
  { format: 'parquet', title: 'Parquet, with types' },
] as const

/** Downloads what matches. The file is asked for first: a refusal is shown here, and does not become a file. */
export function ExportMenu({ terms }: { terms: LogTerms }) {
  const [isBusy, setBusy] = useState(false)
  const start = async (format: string) => {
    setBusy(true)
    try {
      const path = `/admin/v1/requests/export${stringifySearch({ ...terms.filters, from: terms.from, to: terms.to, format })}`
      await requireWillingness(path)
      const link = document.createElement('a')
      link.href = path
      link.download = `requests.${format}`
      link.click()
      done('The download has begun. A file that is cut by a failure does not end well: the browser says so.')
    } catch (error) {
      fails('The export', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Menu position="bottom-end" width={224}>
      <Menu.Target>
        <Button variant="default" leftSection={<DownloadIcon size={14} />} loading={isBusy}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All rows that match</Menu.Label>
        {formats.map(({ format, title }) => (
          <Menu.Item key={format} onClick={() => void start(format)}>
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** Asks for the file and leaves at its head: throws what the gateway refuses it for. */
async function requireWillingness(path: string): Promise<void> {
  const leaving = new AbortController()
  const response = await fetch(path, { signal: leaving.signal })
  if (response.ok) {
    leaving.abort()
    return
  }
  throw errorOf(response, await response.json().catch(() => undefined))
}

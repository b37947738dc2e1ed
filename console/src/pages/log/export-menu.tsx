import { Button, Menu } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { useRef, useState } from 'react'
import { stringifySearch } from '../../console-search.ts'
import { bytes } from '../../format/numbers.ts'
import { done, fails } from '../../parts/toast.tsx'
import { readFile } from './export-file.ts'
import type { LogTerms } from './log-query.ts'

const formats = [
  { format: 'csv', title: 'CSV, for spreadsheets' },
  { format: 'ndjson', title: 'NDJSON, a line for each row' },
  { format: 'parquet', title: 'Parquet, with types' },
] as const

/** What only the rows know; the overview's files have the other sums. */
const sums = [
  { by: 'end_user', title: 'By end user' },
  { by: 'session', title: 'By session' },
  { by: 'tag', title: 'By tag' },
  { by: 'day,tenant,key,model', title: 'By day, tenant, key and model' },
] as const

/**
 * Downloads what matches, with one call: a refusal, or an answer that is cut, is told and becomes no file.
 */
export function ExportMenu({ terms }: { terms: LogTerms }) {
  const [read, setRead] = useState<number>()
  const leaving = useRef<AbortController>(undefined)
  const start = async (path: string, more: Record<string, string>, name: string) => {
    leaving.current = new AbortController()
    setRead(0)
    try {
      path += stringifySearch({ ...terms.filters, from: terms.from, to: terms.to, ...more })
      const address = URL.createObjectURL(await readFile(path, leaving.current.signal, setRead))
      const link = document.createElement('a')
      link.href = address
      link.download = name
      link.click()
      // The browser has begun to save it then.
      setTimeout(() => URL.revokeObjectURL(address), savedMs)
      done('The file is saved where downloads are')
    } catch (error) {
      if (!leaving.current.signal.aborted) fails('The export', error)
    } finally {
      setRead(undefined)
    }
  }
  if (read !== undefined)
    return (
      <Button variant="default" onClick={() => leaving.current?.abort()}>
        Cancel the export ({bytes(read)})
      </Button>
    )
  return (
    <Menu position="bottom-end" width={248}>
      <Menu.Target>
        <Button variant="default" leftSection={<DownloadIcon size={14} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>All rows that match</Menu.Label>
        {formats.map(({ format, title }) => (
          <Menu.Item
            key={format}
            onClick={() => void start('/admin/v1/requests/export', { format }, `requests.${format}`)}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Label>Their sums and cost, as CSV</Menu.Label>
        {sums.map(({ by, title }) => (
          <Menu.Item
            key={by}
            onClick={() =>
              void start(
                '/admin/v1/requests/sums/export',
                { group_by: by },
                `sums-${by.replaceAll(',', '-')}.csv`,
              )
            }
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

const savedMs = 60_000

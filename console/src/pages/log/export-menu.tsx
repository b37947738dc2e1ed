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

/**
 * Downloads what matches, with one call: a refusal, or an answer that is cut, is told and becomes no file.
 */
export function ExportMenu({ terms }: { terms: LogTerms }) {
  const [read, setRead] = useState<number>()
  const leaving = useRef<AbortController>(undefined)
  const start = async (format: string) => {
    leaving.current = new AbortController()
    setRead(0)
    try {
      const path = `/admin/v1/requests/export${stringifySearch({ ...terms.filters, from: terms.from, to: terms.to, format })}`
      const address = URL.createObjectURL(await readFile(path, leaving.current.signal, setRead))
      const link = document.createElement('a')
      link.href = address
      link.download = `requests.${format}`
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
    <Menu position="bottom-end" width={224}>
      <Menu.Target>
        <Button variant="default" leftSection={<DownloadIcon size={14} />}>
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

const savedMs = 60_000

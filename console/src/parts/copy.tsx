import { ActionIcon, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from '@primer/octicons-react'
import { useEffect, useState } from 'react'
import { copyText } from './copy-text.ts'

const saidMs = 1_500

/** Copies `text`. `what` says what it is: "Copy the request id". */
export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), saidMs)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
      <ActionIcon
        size={24}
        aria-label={copied ? 'Copied' : `Copy ${what}`}
        onClick={() => void copyText(text).then(setCopied)}
      >
        {copied ? <CheckIcon size={14} /> : <CopyIcon size={14} />}
      </ActionIcon>
    </Tooltip>
  )
}

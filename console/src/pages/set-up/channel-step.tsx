import { useEffect, useRef, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { Notice } from '../../parts/state.tsx'
import { ChannelForm } from '../channels/channel-form.tsx'
import { ChannelTest } from '../channels/channel-test.tsx'
import classes from './set-up.module.css'
import { isDemo } from './steps.ts'

type Channel = Schema<'Channel'>

/** The form of a channel, and then its test. What was just added comes into view, and has the focus. */
export function ChannelStep({ channels, onMade }: { channels: readonly Channel[]; onMade(): void }) {
  const [made, setMade] = useState<Channel>()
  const real = channels.filter((channel) => !isDemo(channel))
  if (real.length === 0)
    return (
      <div className={classes.channel}>
        <ChannelForm
          onMade={(channel) => {
            setMade(channel)
            onMade()
          }}
        />
      </div>
    )
  return real
    .slice(0, 3)
    .map((channel) => <Added key={channel.id} channel={channel} isNew={channel.id === made?.id} />)
}

function Added({ channel, isNew }: { channel: Channel; isNew: boolean }) {
  const box = useRef<HTMLElement>(null)
  const models = typeof channel.models === 'string' ? [] : Object.keys(channel.models)
  useEffect(() => {
    if (!isNew) return
    box.current?.focus({ preventScroll: true })
    box.current?.scrollIntoView({ block: 'center' })
  }, [isNew])
  return (
    <section ref={box} tabIndex={-1} className={classes.new} aria-label={`Channel ${channel.name}`}>
      {isNew ? (
        <Notice tone="good">
          Channel {channel.name} is added
          {models.length === 0 ? '' : models.length === 1 ? ' with 1 model' : ` with ${models.length} models`}
          . Test it now, then set its prices in the next step.
        </Notice>
      ) : null}
      <ChannelTest id={channel.id} models={models} title={`Test channel ${channel.name}`} />
    </section>
  )
}

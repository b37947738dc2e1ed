import type { Schema } from '../../api/client.ts'
import { ChannelForm } from '../channels/channel-form.tsx'
import { ChannelTest } from '../channels/channel-test.tsx'
import classes from './set-up.module.css'
import { isDemo } from './steps.ts'

/** The form of a channel, and then its test. */
export function ChannelStep({
  channels,
  onMade,
}: {
  channels: readonly Schema<'Channel'>[]
  onMade(): void
}) {
  const real = channels.filter((channel) => !isDemo(channel))
  if (real.length === 0)
    return (
      <div className={classes.channel}>
        <ChannelForm onMade={onMade} />
      </div>
    )
  return real
    .slice(0, 3)
    .map((channel) => (
      <ChannelTest
        key={channel.id}
        id={channel.id}
        models={typeof channel.models === 'string' ? [] : Object.keys(channel.models)}
        title={`Test channel ${channel.name}`}
      />
    ))
}

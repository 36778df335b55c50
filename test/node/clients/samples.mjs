// What all clients ask for and send.
import { z } from 'zod';

export const schema = z.object({ animal: z.string(), legs: z.number() });

export const tool = {
  name: 'jump',
  description: 'Jumps over something.',
  parameters: { type: 'object', properties: { over: { type: 'string' } }, required: ['over'], additionalProperties: false },
};

// notes is a file of six words.
export const notes = 'one two three four five six';

// picture is a PNG of one pixel, recording a WAV of a second of silence.
export const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');

export const recording = wav(8000);

function wav(samples) {
  const header = Buffer.alloc(44);
  header.write('RIFF');
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // one channel
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(8000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 128)]);
}

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A key and its self-signed certificate, both PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Makes a certificate for these host names and IPv4 addresses, good for a day. */
export function makeCertificate(names: readonly string[], addresses: readonly string[]): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(der(0x06, '2a8648ce3d040302'));
  const name = sequence(der(0x31, sequence(der(0x06, '550403'), der(0x0c, Buffer.from('Botshelf tests')))));
  const alternatives = sequence(
    ...names.map((text) => der(0x82, Buffer.from(text))),
    ...addresses.map((text) => der(0x87, Buffer.from(text.split('.').map(Number)))),
  );
  const day = 86_400_000;
  const toBeSigned = sequence(
    der(0xa0, der(0x02, '02')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(utcTime(Date.now() - day), utcTime(Date.now() + day)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(der(0x06, '551d11'), der(0x04, alternatives)))),
  );
  const signature = Buffer.concat([Buffer.alloc(1), sign('sha256', toBeSigned, privateKey)]);
  const cert = sequence(toBeSigned, algorithm, der(0x03, signature)).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  };
}

/** An ASN.1 value of that tag. */
function der(tag: number, content: Buffer | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'hex') : content;
  const length =
    bytes.length < 0x80
      ? Buffer.from([bytes.length])
      : Buffer.from([0x82, Math.floor(bytes.length / 256), bytes.length % 256]);
  return Buffer.concat([Buffer.from([tag]), length, bytes]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function utcTime(time: number): Buffer {
  const text = new Date(time).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${text}Z`));
}

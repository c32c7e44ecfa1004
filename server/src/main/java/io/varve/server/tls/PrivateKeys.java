package io.varve.server.tls;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;

import io.varve.server.config.ConfigException;
import io.varve.server.tls.PemFile.Block;

/**
 * Reads private keys in PEM format: PKCS #8, plain or encrypted, and the two older formats of OpenSSL, plain.
 * Immutable: static methods only.
 */
final class PrivateKeys {
    private static final List<String> ALGORITHMS = List.of("RSA", "EC", "EdDSA", "RSASSA-PSS");
    /** The algorithms of the older forms, as DER. */
    private static final byte[] RSA = HexFormat.of().parseHex("300d06092a864886f70d0101010500");
    private static final byte[] EC_OID = HexFormat.of().parseHex("06072a8648ce3d0201");
    private static final byte[] VERSION_0 = {2, 1, 0};
    private static final String PBES2 = "1.2.840.113549.1.5.13";
    private static final int SEQUENCE = 0x30;
    private static final int OCTETS = 0x04;
    private static final int EC_PARAMETERS = 0xA0;

    private PrivateKeys() {}

    /**
     * Reads the key in a file.
     *
     * @param password empty if there is none
     * @throws ConfigException in one line: setting, file and problem
     */
    static PrivateKey read(PemFile file, String password) {
        for (Block block : file.blocks()) {
            if (block.label().endsWith("PRIVATE KEY")) {
                try {
                    return key(pkcs8(file, block, password));
                } catch (GeneralSecurityException | IOException | IllegalArgumentException damaged) {
                    throw file.wrong("contains a private key that is damaged or of an unknown type");
                }
            }
        }
        throw file.wrong("contains no private key in PEM format");
    }

    private static PKCS8EncodedKeySpec pkcs8(PemFile file, Block block, String password)
            throws GeneralSecurityException, IOException {
        if (block.hasHeaders()) {
            throw file.wrong("uses an unsupported encryption: convert it with"
                    + " openssl pkcs8 -topk8 -in FILE -out NEW");
        }
        return switch (block.label()) {
            case "PRIVATE KEY" -> new PKCS8EncodedKeySpec(block.bytes());
            case "ENCRYPTED PRIVATE KEY" -> decrypt(file, new EncryptedPrivateKeyInfo(block.bytes()), password);
            case "RSA PRIVATE KEY" -> wrapped(RSA, block.bytes());
            case "EC PRIVATE KEY" -> wrapped(der(SEQUENCE, EC_OID, curve(block.bytes())), block.bytes());
            default -> throw file.wrong("contains a key of an unsupported type: " + block.label());
        };
    }

    private static PKCS8EncodedKeySpec decrypt(PemFile file, EncryptedPrivateKeyInfo info, String password)
            throws GeneralSecurityException {
        if (password.isEmpty()) {
            throw file.wrong("is encrypted: tls-key-file-pass is needed");
        }
        AlgorithmParameters parameters = info.getAlgParameters();
        String name = info.getAlgName();
        if (parameters != null && (name.equals(PBES2) || name.equals("PBES2"))) {
            // The name of the inner scheme, such as PBEWithHmacSHA256AndAES_256: the JDK reveals it nowhere else.
            name = parameters.toString();
        }
        try {
            Cipher cipher = Cipher.getInstance(name);
            cipher.init(Cipher.DECRYPT_MODE,
                    SecretKeyFactory.getInstance(name).generateSecret(new PBEKeySpec(password.toCharArray())),
                    parameters);
            return info.getKeySpec(cipher);
        } catch (InvalidKeySpecException wrongPassword) {
            throw file.wrong("cannot be decrypted: tls-key-file-pass is wrong");
        }
    }

    private static PrivateKey key(PKCS8EncodedKeySpec spec) throws GeneralSecurityException {
        GeneralSecurityException last = new InvalidKeySpecException();
        for (String algorithm : ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(spec);
            } catch (InvalidKeySpecException other) {
                last = other;
            }
        }
        throw last;
    }

    // --- the older formats: their bytes are wrapped in PKCS #8

    private static PKCS8EncodedKeySpec wrapped(byte[] algorithm, byte[] key) {
        return new PKCS8EncodedKeySpec(der(SEQUENCE, VERSION_0, algorithm, der(OCTETS, key)));
    }

    private static byte[] der(int tag, byte[]... parts) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            content.writeBytes(part);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        int length = content.size();
        if (length < 0x80) {
            out.write(length);
        } else {
            out.write(0x82);
            out.write(length >>> 8);
            out.write(length);
        }
        out.writeBytes(content.toByteArray());
        return out.toByteArray();
    }

    /**
     * The name of the curve, which follows the version and the key. @throws IllegalArgumentException if it is missing
     */
    private static byte[] curve(byte[] sec1) {
        ByteBuffer in = ByteBuffer.wrap(enter(ByteBuffer.wrap(sec1), SEQUENCE));
        while (in.hasRemaining()) {
            int tag = in.get(in.position()) & 0xFF;
            byte[] content = enter(in, tag);
            if (tag == EC_PARAMETERS) {
                return content;
            }
        }
        throw new IllegalArgumentException("The key does not name its curve");
    }

    /** The content of the next element. */
    private static byte[] enter(ByteBuffer in, int tag) {
        if (in.remaining() < 2 || (in.get() & 0xFF) != tag) {
            throw new IllegalArgumentException("Unexpected DER element");
        }
        int length = in.get() & 0xFF;
        if (length >= 0x80) {
            int bytes = length & 0x7F;
            length = 0;
            for (int i = 0; i < bytes && in.hasRemaining(); i++) {
                length = length << 8 | in.get() & 0xFF;
            }
        }
        if (length < 0 || length > in.remaining()) {
            throw new IllegalArgumentException("Too short");
        }
        byte[] content = new byte[length];
        in.get(content);
        return content;
    }

    // --- pairs

    /** Whether the public key verifies a signature of the private key. */
    static boolean belongTogether(PrivateKey key, PublicKey publicKey) {
        String algorithm = switch (key.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "EdDSA", "Ed25519", "Ed448" -> "EdDSA";
            default -> "SHA256withRSA";
        };
        byte[] text = Arrays.copyOf(VERSION_0, 32);
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(text);
            byte[] signed = signature.sign();
            signature.initVerify(publicKey);
            signature.update(text);
            return signature.verify(signed);
        } catch (GeneralSecurityException differentKinds) {
            return false;
        }
    }
}

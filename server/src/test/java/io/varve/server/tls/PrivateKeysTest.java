package io.varve.server.tls;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;

import io.varve.server.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the formats of a key file. Confined to the test's thread. */
class PrivateKeysTest {
    @TempDir
    Path folder;

    private static KeyPair pair(String algorithm) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("EC")) {
            generator.initialize(new ECGenParameterSpec("secp384r1"));
        }
        return generator.generateKeyPair();
    }

    private PemFile file(String label, byte[] bytes) throws IOException {
        return write("-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END "
                + label + "-----\n");
    }

    private PemFile write(String text) throws IOException {
        return PemFile.read("tls-key-file", Files.writeString(folder.resolve("server.key"), text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519", "RSASSA-PSS"})
    void pkcs8(String algorithm) throws Exception {
        KeyPair pair = pair(algorithm);
        var key = PrivateKeys.read(file("PRIVATE KEY", pair.getPrivate().getEncoded()), "");
        assertThat(key.getEncoded()).isEqualTo(pair.getPrivate().getEncoded());
        if (!algorithm.equals("RSASSA-PSS")) {
            assertThat(PrivateKeys.belongTogether(key, pair.getPublic())).isTrue();
            assertThat(PrivateKeys.belongTogether(key, pair(algorithm).getPublic())).isFalse();
        }
        assertThat(PrivateKeys.belongTogether(key, pair(algorithm.equals("EC") ? "RSA" : "EC").getPublic())).isFalse();
    }

    /**
     * As OpenSSL 3 writes them: a key, and the same one encrypted by {@code right} in its default way and in its old
     * one.
     */
    private static final String PLAIN = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg7CDXv9UL6CGoqTrI
            s4aY70wZJe4XK27wDHIjY0PsVq2hRANCAARhVHQoAuwBOoHNu2b7fUScpM+n2E5F
            CRRL3KZrhVJmWbNf7GiZY3xWR77IWoTwGrijMq6f8Fc+NbaqXYE+SGa3
            -----END PRIVATE KEY-----
            """;
    private static final String SEC1 = """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIOwg17/VC+ghqKk6yLOGmO9MGSXuFytu8AxyI2ND7FatoAoGCCqGSM49
            AwEHoUQDQgAEYVR0KALsATqBzbtm+31EnKTPp9hORQkUS9yma4VSZlmzX+xomWN8
            Vke+yFqE8Bq4ozKun/BXPjW2ql2BPkhmtw==
            -----END EC PRIVATE KEY-----
            """;
    private static final String ENCRYPTED = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgWtrbUBkyTtgICCAAw
            DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDKDBjWi4PS0ZtKNVsb1Vu0EgZDc
            5KNJ1jgLFGpyaVBUlGxu5DwNWM8Zzdbe3ZIThvDdiWqxo1zKws5LEXMktDm2nEZO
            I8fA6E31W8vNHHo0++GFS/pk9BAEdS1vPIrt2GE7AuOgHGr2FeZTFHOQDrYG6ouo
            KRpvAbxksslS09q1k3Z542CJCRK+M9W33M1iBXmq2is3qFDNfIpgRSxMUh40URo=
            -----END ENCRYPTED PRIVATE KEY-----
            """;
    private static final String ENCRYPTED_OLD = """
            -----BEGIN ENCRYPTED PRIVATE KEY-----
            MIGxMBwGCiqGSIb3DQEMAQMwDgQIV7howNKNWsICAggABIGQuTmW0nJx0OvIaQfR
            U6dcfnqsTENN2iI3E9Sk/8yyuCWG24oar9h3rjV1/QeOprD75cGcPd895jzzcm9S
            GE9pvPenNU+4S/e3j7Qvf+VVZoDYLCOyK58451UtdV9i3WKMnTaudTCO94Ugf2jH
            mqW3Fgt35uNwkILUPfei0OAvEYi+N7px1etDj5lVduNXylAr
            -----END ENCRYPTED PRIVATE KEY-----
            """;

    private static BigInteger secretOf(PrivateKey key) {
        return ((ECPrivateKey) key).getS();
    }

    @ParameterizedTest
    @ValueSource(strings = {ENCRYPTED, ENCRYPTED_OLD})
    void encrypted(String text) throws Exception {
        BigInteger secret = secretOf(PrivateKeys.read(write(PLAIN), ""));
        PemFile file = write(text);
        assertThat(secretOf(PrivateKeys.read(file, "right"))).isEqualTo(secret);
        assertThatThrownBy(() -> PrivateKeys.read(file, "")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("server.key: is encrypted: tls-key-file-pass is needed");
        assertThatThrownBy(() -> PrivateKeys.read(file, "wrong")).isInstanceOf(ConfigException.class)
                .hasMessageContaining("server.key: cannot be decrypted: tls-key-file-pass is wrong");
    }

    /** The old forms are what lies within PKCS #8. */
    @Test
    void formsOfOldVersionsOfOpenSsl() throws Exception {
        KeyPair rsa = pair("RSA");
        byte[] pkcs8 = rsa.getPrivate().getEncoded();
        // Version and algorithm take 18 bytes behind the head, and the octets' own head 4.
        byte[] pkcs1 = Arrays.copyOfRange(pkcs8, 4 + 18 + 4, pkcs8.length);
        assertThat(PrivateKeys.read(file("RSA PRIVATE KEY", pkcs1), "").getEncoded()).isEqualTo(pkcs8);
        assertThat(secretOf(PrivateKeys.read(write(SEC1), "")))
                .isEqualTo(secretOf(PrivateKeys.read(write(PLAIN), "")));
    }

    @Test
    void filesWithoutAKeyAreReported() throws Exception {
        assertThatThrownBy(() -> PrivateKeys.read(write("nothing"), ""))
                .hasMessageContaining("contains no private key");
        assertThatThrownBy(() -> PrivateKeys.read(file("DSA PRIVATE KEY", new byte[8]), ""))
                .hasMessageContaining("unsupported type: DSA PRIVATE KEY");
        assertThatThrownBy(
                () -> PrivateKeys.read(write("""
                        -----BEGIN RSA PRIVATE KEY-----
                        Proc-Type: 4,ENCRYPTED

                        AAAA
                        -----END RSA PRIVATE KEY-----
                        """), "x"))
                .hasMessageContaining("openssl pkcs8 -topk8");
        for (byte[] damaged : new byte[][] {{}, {0x30}, {0x30, 5, 1}, {0x30, (byte) 0x84, 127, 1, 1, 1},
                new byte[50]}) {
            for (String label : new String[] {"PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY",
                    "ENCRYPTED PRIVATE KEY"}) {
                assertThatThrownBy(() -> PrivateKeys.read(file(label, damaged), "x")).as(label)
                        .isInstanceOf(ConfigException.class).hasMessageContaining("damaged");
            }
        }
    }
}

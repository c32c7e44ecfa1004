package io.varve.server.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Certificates of an authority, a server and a client, and of a stranger by another authority, made by the JDK's
 * keytool and written as PEM files. Confined to the test's thread.
 */
public final class TestCertificates {
    private static final char[] PASSWORD = "password".toCharArray();

    private final Path folder;
    private final KeyStore store;

    private TestCertificates(Path folder, KeyStore store) {
        this.folder = folder;
        this.store = store;
    }

    public static TestCertificates in(Path folder) throws IOException, GeneralSecurityException, InterruptedException {
        Path file = folder.resolve("all.p12");
        keytool(file, "ca", "-ext", "bc:c");
        keytool(file, "other-ca", "-ext", "bc:c");
        keytool(file, "server", "-signer", "ca", "-ext", "san=ip:127.0.0.1,dns:localhost");
        keytool(file, "renewed", "-signer", "ca", "-ext", "san=ip:127.0.0.1,dns:localhost");
        keytool(file, "client", "-signer", "ca");
        keytool(file, "stranger", "-signer", "other-ca");
        return written(folder, file, List.of("ca", "other-ca", "server", "renewed", "client", "stranger"));
    }

    /** The authority alone, for a server that has its certificate. */
    public static TestCertificates authorityIn(Path folder)
            throws IOException, GeneralSecurityException, InterruptedException {
        Path file = folder.resolve("all.p12");
        keytool(file, "ca", "-ext", "bc:c");
        return written(folder, file, List.of("ca"));
    }

    private static TestCertificates written(Path folder, Path file, List<String> aliases)
            throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (var in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
        TestCertificates certificates = new TestCertificates(folder, store);
        for (String alias : aliases) {
            Files.writeString(certificates.certificate(alias), certificates.chain(alias));
            Files.writeString(certificates.key(alias), pem("PRIVATE KEY", certificates.privateKey(alias).getEncoded()));
        }
        return certificates;
    }

    private static void keytool(Path file, String alias, String... more) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(), "-J-XX:TieredStopAtLevel=1",
                "-genkeypair", "-keystore", file.toString(), "-storetype", "PKCS12", "-storepass", new String(PASSWORD),
                "-alias", alias, "-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=" + alias, "-validity",
                "100"));
        command.addAll(Arrays.asList(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        process.getInputStream().transferTo(output);
        if (process.waitFor() != 0) {
            throw new IOException("keytool: " + output.toString(StandardCharsets.UTF_8));
        }
    }

    public static String pem(String label, byte[] bytes) {
        return "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes)
                + "\n-----END " + label + "-----\n";
    }

    /** The certificate itself and those that sign it, but for the last. */
    private String chain(String alias) throws GeneralSecurityException {
        StringBuilder text = new StringBuilder("What stands outside of the dashes is a comment\n");
        Certificate[] chain = store.getCertificateChain(alias);
        for (int i = 0; i < Math.max(1, chain.length - 1); i++) {
            text.append(pem("CERTIFICATE", chain[i].getEncoded()));
        }
        return text.toString();
    }

    public Path certificate(String alias) {
        return folder.resolve(alias + ".crt");
    }

    public Path key(String alias) {
        return folder.resolve(alias + ".key");
    }

    PrivateKey privateKey(String alias) throws GeneralSecurityException {
        return (PrivateKey) store.getKey(alias, PASSWORD);
    }

    /**
     * The context of a client that trusts the authority.
     *
     * @param alias the client's own certificate; empty for none
     */
    public SSLContext clientContext(String alias) {
        try {
            KeyStore trusted = KeyStore.getInstance("PKCS12");
            trusted.load(null, null);
            trusted.setCertificateEntry("ca", store.getCertificate("ca"));
            TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
            trust.init(trusted);
            KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
            KeyStore mine = KeyStore.getInstance("PKCS12");
            mine.load(null, null);
            if (!alias.isEmpty()) {
                mine.setKeyEntry("me", privateKey(alias), PASSWORD, store.getCertificateChain(alias));
            }
            keys.init(mine, PASSWORD);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** The subject of a certificate. */
    public static String nameOf(Certificate certificate) {
        return ((java.security.cert.X509Certificate) certificate).getSubjectX500Principal().getName();
    }
}

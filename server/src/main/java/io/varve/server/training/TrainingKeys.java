package io.varve.server.training;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * The key and certificate of a training run's encrypted connections. Immutable.
 *
 * <p>The launcher makes the store with the JDK's keytool, outside of the training run, whose cache would otherwise hold
 * the classes that start processes.
 *
 * @param certificate PEM file for the server
 * @param key PEM file for the server
 * @param sockets makes connections that trust the certificate
 */
public record TrainingKeys(Path certificate, Path key, SSLSocketFactory sockets) {
    /** The store's file in the folder of the training run. */
    public static final String STORE = "keys.p12";
    private static final String PASSWORD = "training";
    private static final String ALIAS = "training";
    private static final int LINE_CHARACTERS = 64;

    /** Reads the store in the folder, and writes PEM files beside it. */
    public static TrainingKeys in(Path folder) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve(STORE))) {
            store.load(in, PASSWORD.toCharArray());
        }
        Certificate certificate = store.getCertificate(ALIAS);
        return new TrainingKeys(
                Files.writeString(folder.resolve("certificate.pem"), pem("CERTIFICATE", certificate.getEncoded())),
                Files.writeString(folder.resolve("key.pem"),
                        pem("PRIVATE KEY", store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded())),
                trusting(certificate));
    }

    private static String pem(String label, byte[] bytes) {
        return "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(LINE_CHARACTERS, new byte[] {'\n'}).encodeToString(bytes) + "\n-----END "
                + label + "-----\n";
    }

    private static SSLSocketFactory trusting(Certificate certificate) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry(ALIAS, certificate);
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context.getSocketFactory();
    }

    /** The server's settings for encrypted connections. */
    public List<String> settings(int port) {
        return List.of("--tls-port", Integer.toString(port), "--tls-cert-file", certificate.toString(),
                "--tls-key-file", key.toString(), "--tls-auth-clients", "no");
    }
}

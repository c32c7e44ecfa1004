package io.varve.server.tls;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;

/**
 * The TLS configuration that results from the {@code tls-} settings. Immutable: changed settings or files create
 * another.
 */
public final class TlsContext {
    private static final List<String> PROTOCOLS = List.of("TLSv1.2", "TLSv1.3");
    private static final char[] IN_MEMORY = "in memory".toCharArray();

    private final SSLContext context;
    private final SSLParameters parameters;

    private TlsContext(SSLContext context, SSLParameters parameters) {
        this.context = context;
        this.parameters = parameters;
    }

    /**
     * Reads and checks the files.
     *
     * @throws ConfigException in one line: setting, file and problem
     */
    public static TlsContext of(ServerConfig config) {
        return of(config, true);
    }

    /**
     * As {@link #of}, for connections as a client. It shows a certificate only if {@code tls-cert-file} names one.
     * Without a file or folder of authorities it trusts those of the JDK.
     */
    public static TlsContext ofClient(ServerConfig config) {
        return of(config.with("tls-auth-clients", "no"), !config.text("tls-cert-file").isEmpty());
    }

    private static TlsContext of(ServerConfig config, boolean hasCertificate) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(hasCertificate ? keyManagers(config) : null, trustManagers(config), null);
            SSLSessionContext sessions = context.getServerSessionContext();
            boolean caching = config.bool("tls-session-caching");
            // 0 would mean no limit.
            sessions.setSessionCacheSize(caching ? Math.max(1, config.intNumber("tls-session-cache-size")) : 1);
            sessions.setSessionTimeout(caching ? config.intNumber("tls-session-cache-timeout") : 1);
            return new TlsContext(context, parameters(config, context));
        } catch (GeneralSecurityException | IOException refused) {
            throw new ConfigException("tls-cert-file " + config.text("tls-cert-file") + ": " + refused.getMessage());
        }
    }

    /** Creates the server side of one connection. */
    public SSLEngine newEngine() {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setSSLParameters(parameters);
        return engine;
    }

    /** Creates the client side of one connection; the host name is not checked. */
    public SSLEngine newClientEngine(String host, int port) {
        SSLEngine engine = context.createSSLEngine(host, port);
        engine.setUseClientMode(true);
        SSLParameters wanted = engine.getSSLParameters();
        wanted.setCipherSuites(parameters.getCipherSuites());
        wanted.setProtocols(parameters.getProtocols());
        engine.setSSLParameters(wanted);
        return engine;
    }

    /** Begins TLS as a client, on a connection that is then closed with its socket; the host name is not checked. */
    public SSLSocket client(Socket connected, String host, int port) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(connected, host, port, true);
        SSLParameters wanted = socket.getSSLParameters();
        wanted.setCipherSuites(parameters.getCipherSuites());
        wanted.setProtocols(parameters.getProtocols());
        socket.setSSLParameters(wanted);
        socket.startHandshake();
        return socket;
    }

    private static @Nullable Path path(ServerConfig config, String setting) {
        String name = config.text(setting);
        return name.isEmpty() ? null : Path.of(config.text("dir")).resolve(name);
    }

    private static PemFile needed(ServerConfig config, String setting) {
        Path path = path(config, setting);
        if (path == null) {
            throw new ConfigException(setting + " \"\": is required if tls-port is set");
        }
        return PemFile.read(setting, path);
    }

    private static javax.net.ssl.KeyManager[] keyManagers(ServerConfig config)
            throws GeneralSecurityException, IOException {
        PemFile file = needed(config, "tls-cert-file");
        List<X509Certificate> chain = file.certificates();
        PemFile keyFile = needed(config, "tls-key-file");
        PrivateKey key = PrivateKeys.read(keyFile, config.text("tls-key-file-pass"));
        if (!PrivateKeys.belongTogether(key, chain.getFirst().getPublicKey())) {
            throw keyFile.wrong("does not belong to the certificate in " + file.path());
        }
        KeyStore store = emptyStore();
        store.setKeyEntry("server", key, IN_MEMORY, chain.toArray(new X509Certificate[0]));
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(store, IN_MEMORY);
        return factory.getKeyManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static TrustManager @Nullable [] trustManagers(ServerConfig config)
            throws GeneralSecurityException, IOException {
        List<X509Certificate> authorities = authorities(config);
        if (authorities.isEmpty()) {
            if (!config.text("tls-auth-clients").equals("no")) {
                throw new ConfigException("tls-auth-clients " + config.text("tls-auth-clients")
                        + ": needs tls-ca-cert-file or tls-ca-cert-dir");
            }
            return null;
        }
        KeyStore store = emptyStore();
        for (int i = 0; i < authorities.size(); i++) {
            store.setCertificateEntry("authority " + i, authorities.get(i));
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        return factory.getTrustManagers();
    }

    private static List<X509Certificate> authorities(ServerConfig config) {
        List<X509Certificate> authorities = new ArrayList<>();
        Path file = path(config, "tls-ca-cert-file");
        if (file != null) {
            authorities.addAll(PemFile.read("tls-ca-cert-file", file).certificates());
        }
        Path folder = path(config, "tls-ca-cert-dir");
        if (folder != null) {
            authorities.addAll(authoritiesIn(folder));
        }
        return authorities;
    }

    private static List<X509Certificate> authoritiesIn(Path folder) {
        List<X509Certificate> authorities = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                PemFile pem = PemFile.read("tls-ca-cert-dir", file);
                if (pem.blocks().stream().anyMatch(block -> block.label().endsWith("CERTIFICATE"))) {
                    authorities.addAll(pem.certificates());
                }
            }
        } catch (IOException unreadable) {
            throw new ConfigException(
                    "tls-ca-cert-dir " + folder + ": cannot be read: " + PemFile.reason(folder, unreadable));
        }
        if (authorities.isEmpty()) {
            throw new ConfigException(
                    "tls-ca-cert-dir " + folder + ": contains no file with a certificate in PEM format");
        }
        return authorities;
    }

    private static SSLParameters parameters(ServerConfig config, SSLContext context) {
        List<String> supported = List.of(context.getSupportedSSLParameters().getCipherSuites());
        List<String> defaults = List.of(context.getDefaultSSLParameters().getCipherSuites());
        String tls13 = config.text("tls-ciphersuites");
        String tls12 = config.text("tls-ciphers");
        Set<String> suites = new LinkedHashSet<>(CipherSuites.ofTls13(tls13, tls13.isBlank() ? defaults : supported));
        suites.addAll(CipherSuites.ofTls12(tls12, defaults));
        SSLParameters parameters = new SSLParameters(suites.toArray(new String[0]),
                protocols(config.text("tls-protocols")).toArray(new String[0]));
        parameters.setUseCipherSuitesOrder(config.bool("tls-prefer-server-ciphers"));
        switch (config.text("tls-auth-clients")) {
            case "yes" -> parameters.setNeedClientAuth(true);
            case "optional" -> parameters.setWantClientAuth(true);
            default -> parameters.setNeedClientAuth(false);
        }
        return parameters;
    }

    private static List<String> protocols(String list) {
        if (list.isBlank()) {
            return PROTOCOLS;
        }
        List<String> protocols = new ArrayList<>();
        for (String word : list.strip().split("\\s+")) {
            String protocol = PROTOCOLS.stream().filter(word::equalsIgnoreCase).findFirst()
                    .orElseThrow(() -> new ConfigException("tls-protocols " + list + ": " + word
                            + " is not supported; supported are " + String.join(" ", PROTOCOLS)));
            protocols.add(protocol);
        }
        return protocols;
    }
}

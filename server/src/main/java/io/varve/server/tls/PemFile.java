package io.varve.server.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.varve.server.config.ConfigException;

/**
 * A file in PEM format that a setting names. Immutable.
 *
 * @param setting the setting that names it
 * @param path the path of the file
 * @param blocks the blocks in file order
 */
record PemFile(String setting, Path path, List<Block> blocks) {
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \\1-----",
            Pattern.DOTALL);
    private static final String CERTIFICATE = "CERTIFICATE";
    /** Certificates and keys have a few thousand bytes; a list of all authorities has some hundred thousand. */
    private static final long LONGEST_BYTES = 16 << 20;

    /**
     * The content between two lines of dashes.
     *
     * @param label such as {@code CERTIFICATE}
     * @param text base 64, after headers if there are any
     */
    record Block(String label, String text) {
        /** Whether it is encrypted in the format of old versions of OpenSSL. */
        boolean hasHeaders() {
            return text.contains(":");
        }

        /** @throws IllegalArgumentException if it is not base 64 */
        byte[] bytes() {
            return Base64.getMimeDecoder().decode(text);
        }

        @Override
        public String toString() {
            return label;
        }
    }

    /** @throws ConfigException in one line: setting, file and problem */
    static PemFile read(String setting, Path path) {
        String text;
        try {
            if (Files.size(path) > LONGEST_BYTES) {
                throw new ConfigException(setting + " " + path + ": is too long for a PEM file");
            }
            text = Files.readString(path, StandardCharsets.ISO_8859_1);
        } catch (IOException unreadable) {
            throw new ConfigException(setting + " " + path + ": cannot be read: " + reason(path, unreadable));
        }
        List<Block> blocks = new ArrayList<>();
        Matcher matcher = BLOCK.matcher(text);
        while (matcher.find()) {
            blocks.add(new Block(matcher.group(1), matcher.group(2)));
        }
        return new PemFile(setting, path, List.copyOf(blocks));
    }

    static String reason(Path path, IOException unreadable) {
        return switch (unreadable) {
            case NoSuchFileException _ -> "there is no such file";
            case AccessDeniedException _ -> "permission denied";
            default -> Files.isDirectory(path) ? "it is a directory" : String.valueOf(unreadable.getMessage());
        };
    }

    ConfigException wrong(String what) {
        return new ConfigException(setting + " " + path + ": " + what);
    }

    /** All certificates in the file. @throws ConfigException if there is none, or one is damaged */
    List<X509Certificate> certificates() {
        List<X509Certificate> certificates = new ArrayList<>();
        for (Block block : blocks) {
            if (block.label().endsWith(CERTIFICATE)) {
                certificates.add(certificate(block));
            }
        }
        if (certificates.isEmpty()) {
            throw wrong("contains no certificate in PEM format");
        }
        return certificates;
    }

    private X509Certificate certificate(Block block) {
        try {
            return (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(block.bytes()));
        } catch (CertificateException | IllegalArgumentException damaged) {
            throw wrong("contains a damaged certificate");
        }
    }
}

package io.varve.server.tls;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import io.varve.server.config.ConfigException;

/**
 * Parses the cipher suites of {@code tls-ciphers} and {@code tls-ciphersuites}: OpenSSL's names or the standard ones.
 * Immutable: static methods only.
 */
final class CipherSuites {
    private static final Set<String> DEFAULTS = Set.of("DEFAULT", "HIGH", "ALL", "COMPLEMENTOFDEFAULT");
    /** Exclusions of OpenSSL's lists that mostly match nothing: the JDK offers no such suite. */
    private static final Set<String> NEVER_OFFERED = Set.of("ANULL", "ENULL", "NULL", "EXPORT", "EXP", "LOW", "MEDIUM",
            "MD5", "RC4", "DES", "3DES", "PSK", "SRP", "DSS", "ADH", "AECDH", "IDEA", "SEED", "CAMELLIA", "ARIA",
            "SSLV3", "SSLV2");
    private static final Map<String, String> OTHER_GROUPS = Map.of("SHA1", "_SHA", "SHA", "_SHA", "SHA256", "_SHA256",
            "SHA384", "_SHA384");

    private CipherSuites() {}

    /**
     * The suites of TLS 1.3 that a list names, in its order.
     *
     * @param supported the JDK's suites
     * @throws ConfigException if one of them is unknown
     */
    static List<String> ofTls13(String list, List<String> supported) {
        List<String> known = supported.stream().filter(CipherSuites::isTls13).toList();
        if (list.isBlank()) {
            return known;
        }
        List<String> suites = new ArrayList<>();
        for (String name : words(list)) {
            if (!known.contains(name)) {
                throw unknown("tls-ciphersuites", list, name, known);
            }
            suites.add(name);
        }
        return suites;
    }

    /** The suites of older versions that a list names, in its order. */
    static List<String> ofTls12(String list, List<String> supported) {
        List<String> known = supported.stream().filter(suite -> !isTls13(suite) && suite.startsWith("TLS_")
                && !suite.endsWith("_SCSV")).toList();
        if (list.isBlank()) {
            return known;
        }
        Set<String> suites = new LinkedHashSet<>();
        for (String word : words(list)) {
            String upper = word.toUpperCase(Locale.ROOT);
            if (DEFAULTS.contains(upper)) {
                suites.addAll(known);
            } else if (word.startsWith("!") || word.startsWith("-")) {
                Predicate<String> left = leftOut(upper.substring(1), known);
                if (left == null) {
                    throw unknown("tls-ciphers", list, word, known);
                }
                suites.removeIf(left);
            } else if (!word.startsWith("@")) {
                String suite = standardName(upper);
                if (!known.contains(suite)) {
                    throw unknown("tls-ciphers", list, word, known);
                }
                suites.add(suite);
            }
        }
        if (suites.isEmpty()) {
            throw new ConfigException("tls-ciphers " + list + ": names no available cipher suite");
        }
        return List.copyOf(suites);
    }

    private static boolean isTls13(String suite) {
        return suite.startsWith("TLS_AES_") || suite.startsWith("TLS_CHACHA20_");
    }

    private static List<String> words(String list) {
        return List.of(list.strip().split("[:,\\s]+"));
    }

    private static ConfigException unknown(String setting, String list, String name, List<String> known) {
        return new ConfigException(setting + " " + list + ": " + name + " is not supported; supported are "
                + String.join(" ", known));
    }

    /** The suites that a word after an exclamation mark excludes; null if the word is unknown. */
    private static @org.jspecify.annotations.Nullable Predicate<String> leftOut(String word, List<String> known) {
        if (NEVER_OFFERED.contains(word)) {
            return _ -> false;
        }
        if (word.equals("KRSA") || word.equals("RSA")) {
            return suite -> suite.startsWith("TLS_RSA_");
        }
        String end = OTHER_GROUPS.get(word);
        if (end != null) {
            return suite -> suite.endsWith(end);
        }
        String suite = standardName(word);
        if (known.contains(suite)) {
            return suite::equals;
        }
        String part = "_" + word.replace("AES128", "AES_128").replace("AES256", "AES_256") + "_";
        return known.stream().anyMatch(name -> name.contains(part)) ? name -> name.contains(part) : null;
    }

    /** {@code ECDHE-RSA-AES128-GCM-SHA256} under its standard name; other names are unchanged. */
    static String standardName(String name) {
        if (name.contains("_")) {
            return name;
        }
        String text = name;
        String exchange = "RSA";
        for (String prefix : List.of("ECDHE-ECDSA", "ECDHE-RSA", "DHE-RSA", "DHE-DSS")) {
            if (text.startsWith(prefix + "-")) {
                exchange = prefix;
                text = text.substring(prefix.length() + 1);
                break;
            }
        }
        String cipher = text.replace("AES128", "AES_128").replace("AES256", "AES_256").replace('-', '_');
        if (cipher.equals("CHACHA20_POLY1305")) {
            cipher += "_SHA256";
        } else if (cipher.startsWith("AES_") && !cipher.contains("GCM") && !cipher.contains("CCM")) {
            cipher = cipher.replaceFirst("_(SHA\\d*)$", "_CBC_$1");
        }
        return "TLS_" + exchange.replace('-', '_') + "_WITH_" + cipher;
    }
}

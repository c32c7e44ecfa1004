package io.varve.experiments.paced;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import io.varve.experiments.plan.ValueSizes;

/**
 * The settings of the generator; they are passed as words {@code NAME=VALUE}. Immutable.
 *
 * @param host the server's host
 * @param port the server's port
 * @param connections number of connections, each with one request at a time
 * @param rate requests a second over all connections
 * @param warmupSeconds duration of the same load before the counted part
 * @param seconds duration of the counted part
 * @param seed the seed of all random numbers
 * @param keys number of keys that exist before
 * @param mix shares of the commands
 * @param values lengths of the values
 * @param hashes number of hashes
 * @param fields maximum number of fields of a hash
 * @param ttls TTLs of expiring keys, seconds
 * @param directory receives the results
 */
public record PacedSettings(String host, int port, int connections, int rate, int warmupSeconds, int seconds,
        long seed, long keys, String mix, ValueSizes values, int hashes, int fields, ValueSizes ttls, Path directory) {

    private static final String REHEARSAL_PORT = "rehearsal-port";
    private static final String REHEARSAL_SECONDS = "rehearsal-seconds";

    /** @throws IllegalArgumentException if a word is missing or invalid */
    static PacedSettings parse(List<String> words) {
        Map<String, String> values = byName(words);
        return new PacedSettings(text(values, "host"), integer(values, "port"), integer(values, "connections"),
                integer(values, "rate"), integer(values, "warmup-seconds"), integer(values, "seconds"),
                Long.parseLong(text(values, "seed")), Long.parseLong(text(values, "keys")), text(values, "mix"),
                ValueSizes.parse(text(values, "values")), integer(values, "hashes"), integer(values, "fields"),
                ValueSizes.parse(text(values, "ttls")), Path.of(text(values, "directory")));
    }

    /** The load that precedes the measured one, at another server; empty if there is none. */
    static Optional<PacedSettings> parseRehearsal(List<String> words) {
        Map<String, String> values = byName(words);
        return values.containsKey(REHEARSAL_PORT)
                ? Optional.of(parse(words).at(integer(values, REHEARSAL_PORT), integer(values, REHEARSAL_SECONDS)))
                : Optional.empty();
    }

    private PacedSettings at(int otherPort, int otherSeconds) {
        return new PacedSettings(host, otherPort, connections, rate, 0, otherSeconds, seed, keys, mix, values, hashes,
                fields, ttls, directory);
    }

    /** The words that {@link #parseRehearsal} converts to a load at another server of the same host. */
    public static List<String> rehearsalWords(int port, int seconds) {
        return List.of(REHEARSAL_PORT + "=" + port, REHEARSAL_SECONDS + "=" + seconds);
    }

    private static Map<String, String> byName(List<String> words) {
        Map<String, String> values = new HashMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("'" + word + "': expected NAME=VALUE");
            }
            values.put(word.substring(0, equals), word.substring(equals + 1));
        }
        return values;
    }

    private static String text(Map<String, String> values, String name) {
        String value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }

    private static int integer(Map<String, String> values, String name) {
        return Integer.parseInt(text(values, name));
    }

    /** The words that {@link #parse} converts to these settings. */
    public List<String> words() {
        return new ArrayList<>(List.of("host=" + host, "port=" + port, "connections=" + connections, "rate=" + rate,
                "warmup-seconds=" + warmupSeconds, "seconds=" + seconds, "seed=" + seed, "keys=" + keys, "mix=" + mix,
                "values=" + values.min() + "-" + values.max(), "hashes=" + hashes, "fields=" + fields,
                "ttls=" + ttls.min() + "-" + ttls.max(), "directory=" + directory));
    }

    long periodNanos() {
        return 1_000_000_000L * connections / rate;
    }
}

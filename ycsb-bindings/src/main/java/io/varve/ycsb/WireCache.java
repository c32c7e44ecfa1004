package io.varve.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.varve.ycsb.connection.Connection;
import io.varve.ycsb.connection.Failures;
import io.varve.ycsb.connection.RefusedException;
import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.DatabaseOptions;
import io.varve.ycsb.option.Side;
import io.varve.ycsb.option.TtlChooser;
import io.varve.ycsb.option.VarveOptions;
import io.varve.ycsb.record.RecordCache;
import io.varve.ycsb.record.RecordCoding;
import io.varve.ycsb.record.StringRecords;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;

/**
 * A cache on a server, with each record as one string. Confined to the YCSB thread that opened it.
 *
 * <p>A hint precedes the SET, in its pipeline: {@code VARVE.CLASS DEFAULT n} sets the class of the connection's further
 * writes. It is sent each time, because the server would not know it after a reconnect.
 */
final class WireCache implements RecordCache {

    private final Connection connection;
    private final RecordCoding records;
    private final @Nullable TtlChooser ttls;
    private final boolean hint;

    private WireCache(Connection connection, RecordCoding records, @Nullable TtlChooser ttls, boolean hint) {
        this.connection = connection;
        this.records = records;
        this.ttls = ttls;
        this.hint = hint;
    }

    /** The server's command for hints. Immutable. */
    private static final class HintCommand implements ProtocolKeyword {
        private static final String NAME = "VARVE.CLASS";
        private static final HintCommand INSTANCE = new HintCommand();

        // Lettuce only reads it.
        private final byte[] bytes = NAME.getBytes(StandardCharsets.US_ASCII);

        @Override
        public byte[] getBytes() {
            return bytes;
        }

        @Override
        public String toString() {
            return NAME;
        }
    }

    /**
     * Connects, and with hints checks whether the server accepts them.
     *
     * @throws RefusedException that names the server that does not reply, or the hint that it refuses
     */
    static WireCache open(CacheAsideOptions options, int threadNumber) throws RefusedException {
        VarveOptions cache = options.cache();
        TtlChooser ttls = cache.ttlsMillis().isEmpty()
                ? null
                : new TtlChooser(cache.ttlsMillis(), cache.ttlDistribution(), cache.seed(), threadNumber);
        WireCache opened = new WireCache(Connection.open(cache), new StringRecords(cache.ttlMode(), cache.fieldCount()),
                ttls, options.hint());
        if (options.hint()) {
            try {
                opened.tryHints(options);
            } catch (RefusedException refused) {
                try {
                    opened.close();
                } catch (RedisException e) {
                    refused.addSuppressed(e);
                }
                throw refused;
            }
        }
        return opened;
    }

    private void tryHints(CacheAsideOptions options) throws RefusedException {
        for (Side side : Side.values()) {
            int penaltyClass = options.database(side).penaltyClass();
            try {
                RedisFuture<String> answer = queueHint(connection.queue(), penaltyClass);
                connection.flush();
                connection.reply(answer);
            } catch (RedisException e) {
                String reply = Failures.reason(e);
                String server = "the server at " + options.cache().host() + ":" + options.cache().port();
                throw new RefusedException(reply.toLowerCase(Locale.ROOT).contains("unknown command")
                        ? CacheAsideOptions.HINT + "=true: " + server + " does not know " + HintCommand.NAME
                                + ": expected false for this server (" + reply + ")"
                        : CacheAsideOptions.HINT + "=true with " + DatabaseOptions.classOf(side) + "=" + penaltyClass
                                + ": " + server + " refuses " + HintCommand.NAME + " DEFAULT " + penaltyClass + " ("
                                + reply + ")",
                        e);
            }
        }
    }

    @Override
    public boolean read(byte[] key, Map<String, ByteIterator> result) {
        RecordCoding.PendingRead read = records.read(connection, key, null);
        connection.flush();
        return read.into(result);
    }

    /** {@inheritDoc} The result waits for all replies: a SET after a refused hint is executed regardless. */
    @Override
    public CompletableFuture<Optional<String>> write(byte[] key, Map<String, byte[]> fields, int penaltyClass) {
        RedisClusterAsyncCommands<byte[], byte[]> redis = connection.queue();
        List<CompletableFuture<?>> hinted = hint
                ? List.of(queueHint(redis, penaltyClass).toCompletableFuture())
                : List.of();
        List<CompletableFuture<?>> written = new ArrayList<>();
        for (RedisFuture<?> reply : records.write(redis, key, fields,
                ttls == null ? RecordCoding.NO_TTL : ttls.nextMillis())) {
            written.add(reply.toCompletableFuture());
        }
        connection.flush();
        CompletableFuture<?>[] all = Stream.concat(hinted.stream(), written.stream())
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(all).handle((nothing, failure) -> {
            failure(written).ifPresent(failed -> {
                throw new CompletionException(failed);
            });
            return failure(hinted).map(Failures::reason);
        });
    }

    /** The first failure. */
    private static Optional<Throwable> failure(List<CompletableFuture<?>> answered) {
        for (CompletableFuture<?> each : answered) {
            try {
                each.getNow(null);
            } catch (CompletionException e) {
                return Optional.of(e.getCause() == null ? e : e.getCause());
            } catch (CancellationException e) {
                return Optional.of(e);
            }
        }
        return Optional.empty();
    }

    private static RedisFuture<String> queueHint(RedisClusterAsyncCommands<byte[], byte[]> redis, int penaltyClass) {
        return redis.dispatch(HintCommand.INSTANCE, new StatusOutput<>(ByteArrayCodec.INSTANCE),
                new CommandArgs<>(ByteArrayCodec.INSTANCE).add("DEFAULT").add(penaltyClass));
    }

    @Override
    public void remove(byte[] key) {
        RedisFuture<Long> removed = connection.queue().del(key);
        connection.flush();
        connection.reply(removed);
    }

    @Override
    public void run() {
        connection.run();
    }

    @Override
    public void await(CompletableFuture<?> answer, long millis) {
        connection.awaitAnswer(answer, millis);
    }

    @Override
    public void close() {
        connection.close();
    }
}

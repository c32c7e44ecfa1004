package io.varve.server.script;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.varve.server.command.spec.CommandSpec;
import org.jspecify.annotations.Nullable;

/**
 * The scripts that clients can run by their digests. Thread-safe.
 *
 * <p>Scripts of EVAL make room for newer ones, as since Redis 7.4. Those of SCRIPT LOAD stay until SCRIPT FLUSH, and
 * are refused when their share of the heap is used up: Redis has no such limit.
 */
public final class ScriptCache {
    /** Heap for scripts of EVAL, and the same for those of SCRIPT LOAD: together a quarter of the smallest heap. */
    static final long MAX_BYTES = 4L << 20;

    private final Function<String, @Nullable CommandSpec> commands;
    private final Map<String, Script> loaded = new ConcurrentHashMap<>();
    private final Cache<String, Script> evaluated;
    private final AtomicLong loadedBytes = new AtomicLong();
    private final AtomicLong evicted = new AtomicLong();

    /** @param commands finds a command by its lower-case name */
    public ScriptCache(Function<String, @Nullable CommandSpec> commands) {
        this.commands = commands;
        evaluated = Caffeine.newBuilder().maximumWeight(MAX_BYTES)
                .weigher((String _, Script script) -> script.heapBytes())
                .evictionListener((_, _, _) -> evicted.incrementAndGet()).executor(Runnable::run).build();
    }

    /** The script with this digest, in lower case; null if it is unknown. */
    public @Nullable Script find(String sha1) {
        Script script = loaded.get(sha1);
        if (script == null) {
            script = evaluated.getIfPresent(sha1);
        }
        // SCRIPT LOAD may have moved it between both reads.
        return script == null ? loaded.get(sha1) : script;
    }

    /**
     * The script of EVAL with this source, compiled and kept if it is new.
     *
     * @throws ScriptException if it is invalid
     */
    public Script evaluated(byte[] source) throws ScriptException {
        String sha1 = Sha1.of(source);
        Script known = find(sha1);
        if (known != null) {
            return known;
        }
        Script compiled = Script.compile(sha1, source, commands);
        evaluated.put(sha1, compiled);
        return compiled;
    }

    /**
     * Keeps a script until the next flush.
     *
     * @throws ScriptException if it is invalid, or if there is no memory for it
     */
    public Script load(byte[] source) throws ScriptException {
        String sha1 = Sha1.of(source);
        Script known = loaded.get(sha1);
        if (known != null) {
            return known;
        }
        Script compiled = evaluated.getIfPresent(sha1);
        if (compiled == null) {
            compiled = Script.compile(sha1, source, commands);
        }
        if (loadedBytes.addAndGet(compiled.heapBytes()) > MAX_BYTES) {
            loadedBytes.addAndGet(-compiled.heapBytes());
            throw new ScriptException("OOM the memory for loaded scripts is used up: SCRIPT FLUSH frees it, and EVAL"
                    + " needs none of it");
        }
        if (loaded.putIfAbsent(sha1, compiled) != null) {
            loadedBytes.addAndGet(-compiled.heapBytes());
        }
        evaluated.invalidate(sha1);
        return compiled;
    }

    /** Removes all scripts. */
    public void flush() {
        evaluated.invalidateAll();
        loaded.values().removeIf(script -> {
            loadedBytes.addAndGet(-script.heapBytes());
            return true;
        });
    }

    /** The number of scripts. */
    public long count() {
        return loaded.size() + evaluated.estimatedSize();
    }

    /** Approximate heap size of the scripts, bytes. */
    public long heapBytes() {
        long bytes = loadedBytes.get();
        for (Script script : evaluated.asMap().values()) {
            bytes += script.heapBytes();
        }
        return bytes;
    }

    /** Scripts that made room for newer ones. */
    public long evicted() {
        return evicted.get();
    }
}

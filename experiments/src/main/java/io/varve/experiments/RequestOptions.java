package io.varve.experiments;

import java.nio.file.Path;
import java.util.List;

import io.varve.experiments.simulate.TraceColumns;
import io.varve.experiments.simulate.TraceFile;
import io.varve.experiments.simulate.TraceFormat;
import io.varve.experiments.simulate.YcsbKeys;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options that say which requests are looked at: a trace's, or those that YCSB makes. Confined to the main thread. */
final class RequestOptions {
    private static final int DEFAULT_BLOCK_BYTES = 4096;
    private static final int SECTOR_BYTES = 512;

    @Parameters(index = "0", arity = "0..1", paramLabel = "TRACE", description = "a file, plain or compressed; without one, YCSB's requests")
    private @Nullable Path file;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "keys", description = "of the trace: keys (one a line), csv, spc, msr")
    private String format = "keys";

    @Option(names = "--column", paramLabel = "NAME", description = "of a csv trace: the key's (key)")
    private @Nullable String column;

    @Option(names = "--bytes-column", split = ",", paramLabel = "NAME", description = "of a csv trace: what the item takes; of several, their sum")
    private List<String> bytesColumns = List.of();

    @Option(names = "--operation-column", paramLabel = "NAME", description = "of a csv trace: what is done (get, set, delete, expire ...); without, reads")
    private @Nullable String operationColumn;

    @Option(names = "--block", paramLabel = "BYTES", description = "of a block trace: how much a key stands for (4096)")
    private int blockBytes = DEFAULT_BLOCK_BYTES;

    @Option(names = "--ycsb", paramLabel = "DISTRIBUTION", description = "without a trace: zipfian, uniform or latest")
    private @Nullable String distribution;

    @Option(names = "--keys", paramLabel = "N", defaultValue = "1000000", description = "without a trace: how many there are (1000000)")
    private int keys;

    @Option(names = "--requests", paramLabel = "N", description = "without a trace: how many, the warm-up not counted (20 for each key)")
    private long count;

    @Option(names = "--updates", paramLabel = "SHARE", defaultValue = "0.05", description = "without a trace: of the requests, that write what they read (0.05)")
    private double updates;

    boolean fromTrace() {
        return file != null;
    }

    /** Whether anything says which requests are meant. */
    boolean given() {
        return file != null || distribution != null;
    }

    /** @throws IllegalArgumentException naming the option, its value and what is allowed */
    TraceFile trace() {
        if (file == null) {
            throw new IllegalStateException("There is no trace");
        }
        if (distribution != null) {
            throw new IllegalArgumentException(
                    "there is a trace, " + file + ", and --ycsb " + distribution + ": allowed is one of them");
        }
        if (blockBytes < SECTOR_BYTES) {
            throw new IllegalArgumentException("--block " + blockBytes + ": allowed is 512 or more");
        }
        return new TraceFile(file, TraceFormat.of(format), new TraceColumns(column, bytesColumns, operationColumn),
                blockBytes);
    }

    /** How many there are to be, the warm-up not counted: as many as was said, or so many for each key. */
    long requestsOr(int aKey) {
        return count == 0 ? (long) aKey * keys : count;
    }

    int keys() {
        return keys;
    }

    /**
     * @param requests how many
     * @throws IllegalArgumentException naming the option, its value and what is allowed
     */
    YcsbKeys ycsb(long requests) {
        checkYcsb();
        return new YcsbKeys(YcsbKeys.Distribution.of(distribution == null ? "zipfian" : distribution), keys, requests,
                updates);
    }

    void checkYcsb() {
        if (keys < 1) {
            throw new IllegalArgumentException("--keys " + keys + ": allowed is 1 or more");
        }
        if (count < 0) {
            throw new IllegalArgumentException("--requests " + count + ": allowed is 1 or more");
        }
        if (!(updates >= 0 && updates <= 1)) {
            throw new IllegalArgumentException("--updates " + updates + ": allowed is 0 to 1");
        }
    }
}

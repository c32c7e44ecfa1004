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

/** The options that select a request stream: a trace, or requests that YCSB generates. Confined to the main thread. */
final class RequestOptions {
    private static final int DEFAULT_BLOCK_BYTES = 4096;
    private static final int SECTOR_BYTES = 512;

    @Parameters(index = "0", arity = "0..1", paramLabel = "TRACE", description = "trace file, plain or compressed; default: YCSB's requests")
    private @Nullable Path file;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "keys", description = "format of the trace: keys (one per line), csv, spc, msr")
    private String format = "keys";

    @Option(names = "--column", paramLabel = "NAME", description = "csv trace: name of the key's column (key)")
    private @Nullable String column;

    @Option(names = "--bytes-column", split = ",", paramLabel = "NAME", description = "csv trace: column with the size of the item in bytes; several are added up")
    private List<String> bytesColumns = List.of();

    @Option(names = "--operation-column", paramLabel = "NAME", description = "csv trace: column with the operation (get, set, delete, expire ...); default: all are reads")
    private @Nullable String operationColumn;

    @Option(names = "--block", paramLabel = "BYTES", description = "block trace: bytes of a block, which is one key (4096)")
    private int blockBytes = DEFAULT_BLOCK_BYTES;

    @Option(names = "--ycsb", paramLabel = "DISTRIBUTION", description = "distribution of YCSB's requests: zipfian, uniform or latest")
    private @Nullable String distribution;

    @Option(names = "--keys", paramLabel = "N", defaultValue = "1000000", description = "without a trace: number of keys (1000000)")
    private int keys;

    @Option(names = "--requests", paramLabel = "N", description = "without a trace: number of requests, without the warm-up (20 per key)")
    private long count;

    @Option(names = "--updates", paramLabel = "SHARE", defaultValue = "0.05", description = "without a trace: share of the requests that also write the key (0.05)")
    private double updates;

    boolean hasTrace() {
        return file != null;
    }

    /** Whether any option selects the requests. */
    boolean hasSource() {
        return file != null || distribution != null;
    }

    /** @throws IllegalArgumentException naming the option, its value and the allowed values */
    TraceFile trace() {
        if (file == null) {
            throw new IllegalStateException("There is no trace");
        }
        if (distribution != null) {
            throw new IllegalArgumentException(
                    "the trace " + file + " and --ycsb " + distribution + ": expected one of them");
        }
        if (blockBytes < SECTOR_BYTES) {
            throw new IllegalArgumentException("--block " + blockBytes + ": expected 512 or more");
        }
        return new TraceFile(file, TraceFormat.of(format), new TraceColumns(column, bytesColumns, operationColumn),
                blockBytes);
    }

    /** The number of requests without the warm-up: the given number, or a number for each key. */
    long requestsOr(int perKey) {
        return count == 0 ? (long) perKey * keys : count;
    }

    int keys() {
        return keys;
    }

    /**
     * @param requests number of requests
     * @throws IllegalArgumentException naming the option, its value and the allowed values
     */
    YcsbKeys ycsb(long requests) {
        checkYcsb();
        return new YcsbKeys(YcsbKeys.Distribution.of(distribution == null ? "zipfian" : distribution), keys, requests,
                updates);
    }

    void checkYcsb() {
        if (keys < 1) {
            throw new IllegalArgumentException("--keys " + keys + ": expected 1 or more");
        }
        if (count < 0) {
            throw new IllegalArgumentException("--requests " + count + ": expected 1 or more");
        }
        if (!(updates >= 0 && updates <= 1)) {
            throw new IllegalArgumentException("--updates " + updates + ": expected 0 to 1");
        }
    }
}

package io.varve.server.rdb;

import java.nio.charset.StandardCharsets;

import io.varve.memory.collection.stream.BlockCursor;
import io.varve.memory.collection.stream.Listpack;
import io.varve.memory.offheap.Memory;

import static org.assertj.core.api.Assertions.assertThat;

/** Writes a stream that a payload holds as words behind others. Confined to the test's thread. */
final class StreamText implements StreamSink {
    private final StringBuilder seen;
    private final BlockCursor block = new BlockCursor();

    StreamText(StringBuilder seen) {
        this.seen = seen;
    }

    /** Walks forwards and backwards, and expects the same number of entries. */
    @Override
    public void block(long ms, long seq, long address, int length, long entries) {
        block.open(address, ms, seq);
        long live = 0;
        long all = 0;
        for (boolean more = block.first(); more; more = block.next()) {
            all++;
            live += block.isDeleted() ? 0 : 1;
            id(block.isDeleted() ? " -" : " +", block.ms(), block.seq());
            while (block.nextField()) {
                seen.append(' ').append(element(block.field())).append('=').append(element(block.value()));
            }
        }
        assertThat(live).isEqualTo(entries);
        for (boolean more = block.last(); more; more = block.previous()) {
            all--;
        }
        assertThat(all).isZero();
    }

    private static String element(long at) {
        return Listpack.isInteger(at)
                ? Long.toString(Listpack.integer(at))
                : text(Listpack.textAddress(at), Listpack.textLength(at));
    }

    private static String text(long address, int length) {
        return new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1);
    }

    private void id(String before, long ms, long seq) {
        seen.append(before).append(Long.toUnsignedString(ms)).append('-').append(Long.toUnsignedString(seq));
    }

    @Override
    public void facts(StreamFacts facts) {
        seen.append(" length ").append(facts.length()).append(" added ").append(facts.added());
        id(" last ", facts.lastMs(), facts.lastSeq());
        id(" first ", facts.firstMs(), facts.firstSeq());
        id(" deleted ", facts.deletedMs(), facts.deletedSeq());
    }

    @Override
    public void group(long name, int nameLength, long lastMs, long lastSeq, long read) {
        seen.append(" group ").append(text(name, nameLength)).append(" read ").append(read);
        id(" at ", lastMs, lastSeq);
    }

    @Override
    public void pending(long ms, long seq, long deliveredMillis, long deliveries) {
        id(" pending ", ms, seq);
        seen.append(" at ").append(deliveredMillis).append(" times ").append(deliveries);
    }

    @Override
    public void consumer(long name, int nameLength, long seenMillis, long activeMillis) {
        seen.append(" consumer ").append(text(name, nameLength)).append(" seen ").append(seenMillis).append(" active ")
                .append(activeMillis);
    }

    @Override
    public void owned(long ms, long seq) {
        id(" owns ", ms, seq);
    }
}

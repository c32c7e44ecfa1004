package io.varve.experiments.server;

import java.nio.file.Path;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Parses the system's reports about libraries and our cores. Confined to the test's thread. */
final class AllocatorsTest {
    private static final String CACHE = """
            812 libs found in cache `/etc/ld.so.cache'
            \tlibtcmalloc_minimal_debug.so.4 (libc6,x86-64) => /lib/x86_64-linux-gnu/libtcmalloc_minimal_debug.so.4
            \tlibjemalloc.so.2 (libc6,x86-64) => /lib/x86_64-linux-gnu/libjemalloc.so.2
            \tlibc.so.6 (libc6,x86-64, OS ABI: Linux 3.2.0) => /lib/x86_64-linux-gnu/libc.so.6
            \tlibc.so.6 (libc6, OS ABI: Linux 3.2.0) => /lib/i386-linux-gnu/libc.so.6
            """;

    @Test
    void libraryIsFoundByItsFullName() {
        assertThat(Allocators.find(CACHE, "libjemalloc.so.2")).contains(
                Path.of("/lib/x86_64-linux-gnu/libjemalloc.so.2"));
        assertThat(Allocators.find(CACHE, "libc.so.6")).as("the first is what the loader takes")
                .contains(Path.of("/lib/x86_64-linux-gnu/libc.so.6"));
        assertThat(Allocators.find(CACHE, "libtcmalloc_minimal.so.4")).isEmpty();
        assertThat(Allocators.find("", "libc.so.6")).isEmpty();
    }

    @Test
    void onlyALibrarysMallocCanBeReplaced() {
        String jemalloc = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64";
        assertThat(Allocators.isReplaceable(jemalloc,
                "\tlibjemalloc.so.2 => /lib/x86_64-linux-gnu/libjemalloc.so.2 (0x00007f)\n")).isTrue();
        assertThat(Allocators.isReplaceable(jemalloc, "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n")).isFalse();
        assertThat(Allocators.isReplaceable(jemalloc.replace("jemalloc-5.3.0", "libc"), "")).isTrue();
    }

    @Test
    void onlyAJemallocOfItsOwnDefragments() {
        String jemalloc = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64";
        assertThat(Allocators.isLinkedIn(jemalloc, "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n")).isTrue();
        assertThat(Allocators.isLinkedIn(jemalloc, "\tlibjemalloc.so.2 => /lib/libjemalloc.so.2 (0x00007f)\n"))
                .isFalse();
        assertThat(Allocators.isLinkedIn(jemalloc.replace("jemalloc-5.2.1", "libc"), "")).isFalse();
    }

    @Test
    void ourCoresAreReadAsTheKernelWritesThem() {
        assertThat(OwnCores.allowed("Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n"))
                .isEqualTo("0-1");
        assertThatThrownBy(() -> OwnCores.allowed("Name:\tjava\n")).hasMessageContaining("Cpus_allowed_list");
    }
}

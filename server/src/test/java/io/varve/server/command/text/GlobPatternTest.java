package io.varve.server.command.text;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.SplittableRandom;

import io.varve.memory.offheap.LiveRanges;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Glob patterns with given results, and compared with a simple recursive matcher. Confined to the test thread. */
class GlobPatternTest {
    private static boolean matches(String pattern, String string, boolean ignoreCase) {
        byte[] patternBytes = pattern.getBytes(StandardCharsets.ISO_8859_1);
        byte[] stringBytes = string.getBytes(StandardCharsets.ISO_8859_1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(patternBytes.length + stringBytes.length + 1L);
            MemorySegment.copy(patternBytes, 0, memory, ValueLayout.JAVA_BYTE, 0, patternBytes.length);
            MemorySegment.copy(stringBytes, 0, memory, ValueLayout.JAVA_BYTE, patternBytes.length,
                    stringBytes.length);
            LiveRanges.add(memory.address(), memory.byteSize());
            try {
                return GlobPattern.matches(memory.address(), patternBytes.length,
                        memory.address() + patternBytes.length, stringBytes.length, ignoreCase);
            } finally {
                LiveRanges.remove(memory.address());
            }
        }
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '"', value = {"h?llo,hello,true", "h?llo,hllo,false", "h*llo,hllo,true",
            "h*llo,heeeello,true", "h[ae]llo,hello,true", "h[ae]llo,hillo,false", "h[^e]llo,hallo,true",
            "h[^e]llo,hello,false", "h[a-b]llo,hbllo,true", "h[b-a]llo,hbllo,true", "h[a-b]llo,hcllo,false",
            "\\*,*,true", "\\*,x,false", "a\\,a\\,true", "[,[,false", "[a,a,true", "[^,x,true", "[a-],],true",
            "[a-],b,false", "[a-],^,true", "[\\]],],true", "[],x,false", "[^],x,true", "*,x,true", "**,x,true",
            "a*,a,true",
            "a***,a,true", "*a,ba,true", "*a,bab,false", "*a*b*c,xxaxxbxxcxxc,true", "*a*b*c,xxaxxbxxcxx,false",
            "*[ab]?,xxac,true", "?,x,true", "??,x,false", "x,\"\",false", "?,\"\",false", "**,\"\",false",
            "\"\",\"\",true", "\"\",x,false", "*[,x[,false"})
    void matchesAsRedisDoes(String pattern, String string, boolean expected) {
        assertThat(matches(pattern, string, false)).as("%s on %s", pattern, string).isEqualTo(expected);
    }

    @Test
    void caseIsIgnoredOnRequest() {
        assertThat(matches("MaX*", "maxmemory", true)).isTrue();
        assertThat(matches("[M-N]ax*", "maxmemory", true)).isTrue();
        assertThat(matches("MaX*", "maxmemory", false)).isFalse();
    }

    @Test
    void manyStarsDoNotTakeForever() {
        String pattern = "a*".repeat(200) + "b";
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(20),
                () -> assertThat(matches(pattern, "a".repeat(20_000), false)).isFalse());
    }

    @Test
    void randomPatternsMatchLikeTheSimpleMatcher() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            String pattern = text(random, "ab*?[]^-\\", 8);
            String string = text(random, "ab-^]\\", 6);
            assertThat(matches(pattern, string, false)).as("seed %d: %s on %s", seed, pattern, string)
                    .isEqualTo(plain(pattern, string));
        }
    }

    private static String text(SplittableRandom random, String alphabet, int bound) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(bound); i > 0; i--) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return text.toString();
    }

    private static boolean plain(String pattern, String string) {
        return string.isEmpty() ? pattern.isEmpty() : rest(pattern, string);
    }

    /** Matches the rest of the pattern with the rest of the string, by trying everything. */
    private static boolean rest(String pattern, String string) {
        if (pattern.isEmpty() || string.isEmpty()) {
            return string.isEmpty() && pattern.chars().allMatch(c -> c == '*');
        }
        char first = pattern.charAt(0);
        if (first == '*') {
            return rest(pattern.substring(1), string) || rest(pattern, string.substring(1));
        }
        char c = string.charAt(0);
        int end = 1;
        boolean matches;
        if (first == '[') {
            boolean negated = pattern.startsWith("^", end);
            end += negated ? 1 : 0;
            boolean found = false;
            while (end < pattern.length() && pattern.charAt(end) != ']') {
                char member = pattern.charAt(end);
                if (member == '\\' && end + 1 < pattern.length()) {
                    found |= pattern.charAt(end + 1) == c;
                    end += 2;
                } else if (end + 2 < pattern.length() && pattern.charAt(end + 1) == '-') {
                    char other = pattern.charAt(end + 2);
                    found |= Math.min(member, other) <= c && c <= Math.max(member, other);
                    end += 3;
                } else {
                    found |= member == c;
                    end++;
                }
            }
            end = Math.min(end + 1, pattern.length());
            matches = found != negated;
        } else if (first == '\\' && pattern.length() > 1) {
            matches = pattern.charAt(1) == c;
            end = 2;
        } else {
            matches = first == '?' || first == c;
        }
        return matches && rest(pattern.substring(end), string.substring(1));
    }
}

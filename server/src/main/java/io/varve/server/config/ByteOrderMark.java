package io.varve.server.config;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Skips the byte order mark: three bytes that some editors write before UTF-8 text. Immutable: static methods only. */
public final class ByteOrderMark {
    private static final byte[] UTF_8 = "\uFEFF".getBytes(StandardCharsets.UTF_8);

    private ByteOrderMark() {}

    /** The stream without a leading mark. */
    public static InputStream skip(InputStream in) throws IOException {
        InputStream text = in.markSupported() ? in : new BufferedInputStream(in);
        text.mark(UTF_8.length);
        if (!Arrays.equals(text.readNBytes(UTF_8.length), UTF_8)) {
            text.reset();
        }
        return text;
    }

    /** All lines of a file, as {@link Files#readAllLines(Path, Charset)} reads them, without the mark. */
    public static List<String> linesWithout(Path file, Charset charset) throws IOException {
        List<String> lines = Files.readAllLines(file, charset);
        String mark = new String(UTF_8, charset);
        if (!lines.isEmpty() && lines.getFirst().startsWith(mark)) {
            lines.set(0, lines.getFirst().substring(mark.length()));
        }
        return lines;
    }
}

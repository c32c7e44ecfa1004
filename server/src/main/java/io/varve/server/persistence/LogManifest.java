package io.varve.server.persistence;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * The list of the files of a log, in Redis's format: a line {@code file NAME seq NUMBER type b|i|h} for each. They are
 * read in this order: the base, then the increments. Immutable.
 *
 * @param base the state at the beginning of the first increment; null if that began with nothing
 * @param increments commands since then, by ascending number
 */
public record LogManifest(@Nullable Entry base, List<Entry> increments) {
    private static final int MAX_BYTES = 16 << 20;
    private static final int MAX_DIGITS = 18;
    private static final int MAX_SHOWN_CHARS = 40;
    /** Letters behind a backslash, and the characters that they stand for. */
    private static final String ESCAPES = "nrtab\"\\";
    private static final String ESCAPED = "\n\r\t\u0007\b\"\\";
    /** Ends the name of a manifest, after the name of the log. */
    public static final String SUFFIX = ".manifest";

    /**
     * A file.
     *
     * @param name its name within the directory
     * @param sequence its number, from 1 on, among those of its type
     */
    public record Entry(String name, long sequence) {
        /** The base of a log with this number. */
        static Entry base(String log, long sequence) {
            return new Entry(log + "." + sequence + ".base.rdb", sequence);
        }

        /** The increment of a log with this number. */
        static Entry increment(String log, long sequence) {
            return new Entry(log + "." + sequence + ".incr.aof", sequence);
        }
    }

    public LogManifest {
        increments = List.copyOf(increments);
    }

    /** The manifest of a log without files. */
    public static LogManifest empty() {
        return new LogManifest(null, List.of());
    }

    /** The manifest of a log. */
    public static Path file(Path directory, String name) {
        return directory.resolve(name + SUFFIX);
    }

    /**
     * Reads a manifest.
     *
     * @throws IOException if it cannot be read, or says what none can
     */
    public static LogManifest read(Path file) throws IOException {
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException(file + ": larger than any manifest");
        }
        List<String> lines = new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
        Entry base = null;
        List<Entry> increments = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isEmpty() || line.startsWith("#")) {
                continue;
            }
            Line read = Line.of(line, file + ":" + (i + 1));
            switch (read.type) {
                case 'b' -> {
                    if (base != null) {
                        throw read.wrong("a second base");
                    }
                    base = read.entry;
                }
                case 'i' -> {
                    if (!increments.isEmpty() && increments.getLast().sequence() >= read.entry.sequence()) {
                        throw read.wrong("an increment that is not newer than the one before it");
                    }
                    increments.add(read.entry);
                }
                case 'h' -> {
                    // History: its writer was about to delete the file.
                }
                default -> throw read.wrong("type " + shown(String.valueOf(read.type)) + "; expected b, i or h");
            }
        }
        if (base == null && increments.isEmpty()) {
            throw new IOException(file + ": it lists no file");
        }
        return new LogManifest(base, increments);
    }

    /** A line of a manifest. */
    private record Line(Entry entry, char type, String place) {
        static Line of(String line, String place) throws IOException {
            String name = null;
            long sequence = -1;
            char type = 0;
            Words words = new Words(line, place);
            for (String key = words.next(); key != null; key = words.next()) {
                String value = words.next();
                if (value == null) {
                    throw new IOException(place + ": " + shown(key) + " has no value");
                }
                switch (key.toLowerCase(Locale.ROOT)) {
                    case "file" -> name = value;
                    case "seq" -> sequence = number(value, place);
                    case "type" -> type = value.length() == 1 ? value.charAt(0) : 0;
                    default -> {
                        // Later versions add offsets, which are for replicas.
                    }
                }
            }
            if (name == null || sequence < 1 || type == 0) {
                throw new IOException(place + ": expected file NAME seq NUMBER type b|i|h");
            }
            if (!isFileName(name)) {
                throw new IOException(place + ": file " + shown(name) + "; expected a name within the directory");
            }
            return new Line(new Entry(name, sequence), type, place);
        }

        private static boolean isFileName(String name) {
            try {
                Path path = Path.of(name);
                return !name.isEmpty() && !name.contains("/") && path.equals(path.getFileName())
                        && path.normalize().equals(path) && !name.equals("..");
            } catch (InvalidPathException wrong) {
                // It has a zero byte, or the system's character set does not have its letters.
                return false;
            }
        }

        private static long number(String text, String place) throws IOException {
            try {
                return Long.parseLong(text);
            } catch (NumberFormatException none) {
                throw new IOException(place + ": seq " + shown(text) + "; expected a number", none);
            }
        }

        IOException wrong(String what) {
            return new IOException(place + ": " + what);
        }
    }

    /** A text of the file for a message of one line. */
    private static String shown(String text) {
        return quoted(text.length() > MAX_SHOWN_CHARS ? text.substring(0, MAX_SHOWN_CHARS) + "..." : text);
    }

    /** The words of a line: separated by blanks, or in quotes with Redis's escapes. Confined to one thread. */
    private static final class Words {
        private final String line;
        private final String place;
        private int at;

        Words(String line, String place) {
            this.line = line;
            this.place = place;
        }

        @Nullable
        String next() throws IOException {
            while (at < line.length() && line.charAt(at) == ' ') {
                at++;
            }
            if (at == line.length()) {
                return null;
            }
            if (line.charAt(at) == '"' || line.charAt(at) == '\'') {
                return quoted(line.charAt(at));
            }
            int from = at;
            while (at < line.length() && line.charAt(at) != ' ') {
                at++;
            }
            return line.substring(from, at);
        }

        private String quoted(char quote) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            at++;
            while (at < line.length() && line.charAt(at) != quote) {
                if (line.charAt(at) == '\\' && at + 1 < line.length()
                        && (quote == '"' || line.charAt(at + 1) == quote)) {
                    unescape(bytes);
                } else {
                    int letter = line.codePointAt(at);
                    bytes.writeBytes(Character.toString(letter).getBytes(StandardCharsets.UTF_8));
                    at += Character.charCount(letter);
                }
            }
            at++;
            if (at > line.length() || at < line.length() && line.charAt(at) != ' ') {
                throw new IOException(place + ": unbalanced quotes");
            }
            return bytes.toString(StandardCharsets.UTF_8);
        }

        private void unescape(ByteArrayOutputStream bytes) {
            if (line.charAt(at + 1) == 'x' && at + 3 < line.length()
                    && HexFormat.isHexDigit(line.charAt(at + 2)) && HexFormat.isHexDigit(line.charAt(at + 3))) {
                bytes.write(HexFormat.fromHexDigits(line, at + 2, at + 4));
                at += 4;
                return;
            }
            int letter = line.codePointAt(at + 1);
            int code = ESCAPES.indexOf(letter);
            bytes.writeBytes((code < 0 ? Character.toString(letter) : ESCAPED.substring(code, code + 1))
                    .getBytes(StandardCharsets.UTF_8));
            at += 1 + Character.charCount(letter);
        }
    }

    /** The highest number of a base; 0 if there is none. */
    long lastBase() {
        return base == null ? 0 : base.sequence();
    }

    /** The highest number of an increment; 0 if there is none. */
    long lastIncrement() {
        return increments.isEmpty() ? 0 : increments.getLast().sequence();
    }

    /** This manifest with one more increment. */
    LogManifest with(Entry increment) {
        List<Entry> all = new ArrayList<>(increments);
        all.add(increment);
        return new LogManifest(base, all);
    }

    /** This manifest with another base, and without the increments that it contains. */
    LogManifest with(Entry newBase, long firstIncrement) {
        return new LogManifest(newBase,
                increments.stream().filter(each -> each.sequence() >= firstIncrement).toList());
    }

    /** This manifest without its last increments. */
    public LogManifest withoutLast(int count) {
        return new LogManifest(base, increments.subList(0, increments.size() - count));
    }

    /** Names of all files. */
    public List<String> names() {
        List<String> names = new ArrayList<>();
        if (base != null) {
            names.add(base.name());
        }
        increments.forEach(each -> names.add(each.name()));
        return names;
    }

    /** The text of the file. */
    String text() {
        StringBuilder text = new StringBuilder();
        if (base != null) {
            line(text, base, 'b');
        }
        increments.forEach(each -> line(text, each, 'i'));
        return text.toString();
    }

    private static void line(StringBuilder text, Entry entry, char type) {
        boolean isPlain = entry.name().chars().allMatch(c -> c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '\'');
        String name = isPlain ? entry.name() : quoted(entry.name());
        text.append("file ").append(name).append(" seq ").append(entry.sequence()).append(" type ").append(type)
                .append('\n');
    }

    /** In quotes, with Redis's escapes for all that is not printable ASCII. */
    private static String quoted(String name) {
        StringBuilder text = new StringBuilder("\"");
        for (byte each : name.getBytes(StandardCharsets.UTF_8)) {
            int code = ESCAPED.indexOf(each);
            if (code >= 0) {
                text.append('\\').append(ESCAPES.charAt(code));
            } else if (each >= ' ' && each < 0x7f) {
                text.append((char) each);
            } else {
                text.append("\\x").append(HexFormat.of().toHexDigits(each));
            }
        }
        return text.append('"').toString();
    }

    /** Replaces the manifest of a log. Returns when that would survive a loss of power. */
    public void write(Path directory, String name) throws IOException {
        write(Disk.system(), directory, name);
    }

    /** Replaces the manifest of a log. Returns when that would survive a loss of power. */
    void write(Disk disk, Path directory, String name) throws IOException {
        Path file = file(directory, name);
        Path temporary = directory.resolve("temp-" + file.getFileName());
        try (Disk.Output output = disk.create(temporary)) {
            output.write(ByteBuffer.wrap(text().getBytes(StandardCharsets.UTF_8)));
            output.force();
        }
        disk.move(temporary, file);
        disk.forceDirectory(directory);
    }

    /**
     * The highest number of a file in the directory, whether it is listed or not.
     *
     * @param kind {@code .base.} or {@code .incr.}
     */
    static long lastNumber(Path directory, String name, String kind) throws IOException {
        long last = 0;
        String prefix = name + ".";
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path each : files) {
                String file = String.valueOf(each.getFileName());
                int end = file.indexOf(kind);
                String digits = file.startsWith(prefix) && end > prefix.length()
                        ? file.substring(prefix.length(), end)
                        : "";
                if (!digits.isEmpty() && digits.length() <= MAX_DIGITS
                        && digits.chars().allMatch(Character::isDigit)) {
                    last = Math.max(last, Long.parseLong(digits));
                }
            }
        }
        return last;
    }
}

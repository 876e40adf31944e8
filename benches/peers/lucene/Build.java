import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.FieldType;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.SlowCodecReaderWrapper;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.misc.index.BPIndexReorderer;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * Indexes a corpus with one thread into one segment, or writes such an index again with its
 * documents in the order that recursive graph bisection gives them. Prints what that took, as
 * {@code *.figures} have it: CPU seconds, wall seconds, peak memory in KiB, bytes.
 */
final class Build {
  /** The field that is searched, in both kinds of corpus. */
  static final String TEXT = "text";

  /** As tantivy's k1 and b, which are fixed. */
  static final BM25Similarity SIMILARITY = new BM25Similarity(1.2f, 0.75f);

  private static final String USAGE =
      "usage: Build plain LINES INDEX | Build bisected INDEX NEW_INDEX MIN_DOC_FREQ";

  /**
   * The corpus has words with blanks between, lower-cased already. Words longer than 255 characters
   * are cut by default; no term may have more than 32,766 bytes.
   */
  static WhitespaceAnalyzer words() {
    return new WhitespaceAnalyzer(10_000);
  }

  public static void main(String[] typed) throws IOException {
    if (typed.length == 3 && typed[0].equals("plain")) {
      plain(Path.of(typed[1]), Path.of(typed[2]));
    } else if (typed.length == 4 && typed[0].equals("bisected")) {
      bisected(Path.of(typed[1]), Path.of(typed[2]), Integer.parseInt(typed[3]));
    } else {
      throw new IllegalArgumentException(USAGE);
    }
  }

  private static void plain(Path lines, Path to) throws IOException {
    try (Directory directory = FSDirectory.open(to);
        BufferedReader documents = Files.newBufferedReader(lines)) {
      try (IndexWriter writer = new IndexWriter(directory, config())) {
        for (String line; (line = documents.readLine()) != null; ) {
          writer.addDocument(document(line));
        }
        writer.forceMerge(1);
        writer.commit();
      }
      printFigures(directory, to);
    }
  }

  private static void bisected(Path from, Path to, int minDocFreq) throws IOException {
    try (Directory old = FSDirectory.open(from);
        Directory directory = FSDirectory.open(to);
        DirectoryReader reader = DirectoryReader.open(old)) {
      CodecReader segment = SlowCodecReaderWrapper.wrap(reader.leaves().getFirst().reader());
      BPIndexReorderer reorderer = new BPIndexReorderer();
      reorderer.setMinDocFreq(minDocFreq);
      // Without an executor it stays on this thread.
      CodecReader reordered = reorderer.reorder(segment, directory, null);
      try (IndexWriter writer = new IndexWriter(directory, config())) {
        writer.addIndexes(reordered);
        writer.commit();
      }
      printFigures(directory, to);
    }
  }

  /** One thread, one GiB, and files as they are: a compound file would only add a layer. */
  private static IndexWriterConfig config() {
    TieredMergePolicy merges = new TieredMergePolicy();
    merges.setNoCFSRatio(0);
    IndexWriterConfig config = new IndexWriterConfig(words());
    config.setSimilarity(SIMILARITY);
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
    config.setRAMBufferSizeMB(1024);
    config.setUseCompoundFile(false);
    config.setMergePolicy(merges);
    config.setMergeScheduler(new SerialMergeScheduler());
    return config;
  }

  /** A title, which is stored, a tab, and a body, which is indexed; or a title, which is both. */
  private static Document document(String line) {
    Document document = new Document();
    int tab = line.indexOf('\t');
    if (tab < 0) {
      document.add(new Field(TEXT, line, indexed(true)));
    } else {
      document.add(new StoredField("title", line.substring(0, tab)));
      document.add(new Field(TEXT, line.substring(tab + 1), indexed(false)));
    }
    return document;
  }

  private static FieldType indexed(boolean stored) {
    FieldType type = new FieldType();
    type.setTokenized(true);
    type.setStored(stored);
    type.setOmitNorms(false);
    type.setIndexOptions(IndexOptions.DOCS_AND_FREQS_AND_POSITIONS);
    type.freeze();
    return type;
  }

  private static void printFigures(Directory directory, Path at) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      if (reader.leaves().size() != 1 || reader.hasDeletions()) {
        throw new IllegalStateException(at + " has not one clean segment");
      }
    }
    long bytes = 0;
    for (String file : directory.listAll()) {
      bytes += directory.fileLength(file);
    }
    var system =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    double cpu = system.getProcessCpuTime() / 1e9;
    double wall = ManagementFactory.getRuntimeMXBean().getUptime() / 1e3;
    System.out.println(cpu + " " + wall + " " + peakKib() + " " + bytes);
  }

  private static long peakKib() throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
      if (line.startsWith("VmHWM:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("/proc/self/status has no VmHWM");
  }
}
